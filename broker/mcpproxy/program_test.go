package mcpproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// isolateFile is where the isolate is built.
var isolateFile = filepath.Join(os.TempDir(), fmt.Sprintf("isolate-%d", os.Getpid()))

// buildIsolate builds the real isolate, once for all tests.
var buildIsolate = sync.OnceValues(func() (string, error) {
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", isolateFile, "../../cmd/"+codemode.ProgramName)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return isolateFile, nil
})

// programs lets agents run programs, beside single calls or instead of them.
func programs(t *testing.T, only bool) func(*Config) {
	t.Helper()
	path, err := buildIsolate()
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), codemode.ProgramName)
	if err := os.Link(path, own); err != nil {
		t.Fatal(err)
	}
	return func(c *Config) {
		c.Programs, c.OnlyPrograms = codemode.NewRunner(own, "", codemode.Limits{}), only
	}
}

func executeLine(id, code string) string {
	arguments, _ := json.Marshal(map[string]string{"code": code})
	return callLine(id, "proxy__execute", string(arguments))
}

func (a *agent) execute(id, code string) received {
	a.t.Helper()
	a.send(executeLine(id, code))
	return a.answerTo(id)
}

// ofProgram are the records of decisions about calls of programs, in the order of the calls.
func (r *harness) ofProgram() []audit.Line {
	r.t.Helper()
	all := r.records(func(l audit.Line) bool { return l.Detail["program"] != nil && l.Outcome == "" })
	slices.SortStableFunc(all, func(a, b audit.Line) int { return int(a.Detail["index"].(float64) - b.Detail["index"].(float64)) })
	return all
}

func TestAProgramMakesCalls(t *testing.T) {
	r := newHarness(t, programs(t, false))
	a := r.agent()
	m := a.execute("1", `const all = await Promise.all(['a', 'b'].map(n => filesystem.read_text_file({ path: '/workspace/' + n })));
		all.push(await filesystem.read_text_file({ path: '/workspace/secret' }));
		all.push(await filesystem.read_text_file({ path: '/workspace/parts' }));
		return all`)
	var got []any
	if err := json.Unmarshal([]byte(m.text()), &got); err != nil || m.isError() || len(got) != 4 ||
		got[0] != "done /workspace/a" || got[1] != "done /workspace/b" || strings.Contains(m.text(), "0123456789") {
		t.Fatalf("answer %s", m.Result)
	}
	if b, ok := got[3].([]any); !ok || len(b) != 5 || b[1].(map[string]any)["mimeType"] != "image/png" {
		t.Errorf("blocks %v", got[3])
	}
	records := r.decisions()
	begun := records[0]
	if begun.Tool != "execute" || begun.Decision != audit.Allow || begun.Rule != "proxy-execute-allow" || !strings.Contains(string(begun.Arguments), "Promise.all") {
		t.Errorf("the program's record: %+v", begun)
	}
	made := r.ofProgram()
	for i, l := range made {
		if l.Detail["program"] != begun.Call || l.Detail["index"] != float64(i+1) || l.Decision != audit.Allow || l.Server != "filesystem" {
			t.Errorf("record %d: %+v", i, l)
		}
	}
	if len(made) != 4 || len(r.forwarded()) != 4 {
		t.Errorf("%d records, %d calls at the server", len(made), len(r.forwarded()))
	}
	ended := r.endings(5)
	if i := slices.IndexFunc(ended, func(l audit.Line) bool { return l.Call == begun.Call }); i < 0 || ended[i].Detail["calls"] != 4.0 {
		t.Errorf("endings %+v", ended)
	}
}

// A call of a program is judged, decided, recorded and forwarded like the same call of the
// agent itself.
func TestCallsOfProgramsAreTheSame(t *testing.T) {
	r := newHarness(t, programs(t, false))
	a := r.agent()
	for n, c := range []struct {
		tool, arguments string
		approve         bool
	}{
		{"read_text_file", `{"path":"/workspace/a.txt"}`, false},
		{"read_text_file", `{"path":"/workspace/./x/../a.txt","head":3}`, false},
		{"write_file", `{"path":"/workspace/ü \"q\" 😀.txt","content":"x\n\u0000y"}`, false},
		{"write_file", `{"path":"` + r.outside + `/b","content":"x"}`, true},
		{"write_file", `{"path":"` + r.outside + `/c","content":"x"}`, false},
		{"write_file", `{"path":"` + filepath.Join(r.dir, "closed", "x") + `","content":"x"}`, false},
		{"read_text_file", `{"path":"/workspace/a.txt","more":1}`, false},
		{"read_text_file", `{"path":7}`, false},
		{"read_text_file", `{}`, false},
		{"read_text_file", `{"path":"/workspace/a\u0000b"}`, false},
		{"read_text_file", `{"path":"/proc/self/environ"}`, false},
		{"read_text_file", `{"path":"/workspace/refuse"}`, false},
		{"list_directory", `{"path":"` + strings.Repeat("../", 30) + `etc"}`, false},
		{"read_text_file", `{"path":"/workspace/a.txt","head":1e21}`, false},
		{"read_text_file", `{"a":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`, false},
	} {
		t.Run(c.tool+" "+c.arguments[:min(len(c.arguments), 60)], func(t *testing.T) {
			before, sent := len(r.decisions()), len(r.forwarded())
			settle := func() {
				eventually(t, func() bool {
					if len(r.queue.Pending()) == 0 {
						return len(r.ofServers(before)) > 0
					}
					r.decide(1, c.approve)
					return true
				}, "a decision")
			}
			a.send(callLine(fmt.Sprint(n*2+1), "filesystem__"+c.tool, compact(t, c.arguments)))
			settle()
			plain := a.answerTo(fmt.Sprint(n*2 + 1))
			one, oneSent := r.ofServers(before), r.forwarded()[sent:]
			before, sent = len(r.decisions())+1, len(r.forwarded())
			a.send(executeLine(fmt.Sprint(n*2+2), `try { return [await filesystem.`+c.tool+`(`+c.arguments+`)] } catch (e) { return [e.message, e.decision, e.rule] }`))
			settle()
			inside := a.answerTo(fmt.Sprint(n*2 + 2))
			two, twoSent := r.ofServers(before), r.forwarded()[sent:]
			if len(one) != 1 || len(two) != 1 {
				t.Fatalf("%d and %d records: %s, %s", len(one), len(two), plain.Result, inside.Result)
			}
			if one[0].Decision != two[0].Decision || one[0].Rule != two[0].Rule || one[0].Digest != two[0].Digest || one[0].Reason != two[0].Reason ||
				one[0].Requested != two[0].Requested || string(one[0].Arguments) != string(two[0].Arguments) || !slices.Equal(oneSent, twoSent) {
				t.Errorf("by itself %+v %q\nin a program %+v %q", one[0], oneSent, two[0], twoSent)
			}
			var got []string
			if json.Unmarshal([]byte(inside.text()), &got) != nil || got[0] != plain.text() {
				t.Errorf("by itself %s, in a program %s", plain.text(), inside.text())
			}
		})
	}
}

// ofServers are the decisions about calls of tools of servers, from the n-th decision on.
func (r *harness) ofServers(n int) []audit.Line {
	r.t.Helper()
	decided := r.decisions()
	var all []audit.Line
	for _, l := range decided[min(n, len(decided)):] {
		if l.Server != policy.ProxyServer {
			all = append(all, l)
		}
	}
	return all
}

// compact is JSON as a program writes it.
func compact(t *testing.T, text string) string {
	t.Helper()
	var v struct{ Path, Content *string }
	if json.Unmarshal([]byte(text), &v) == nil && v.Content != nil && strings.Contains(text, "ü") {
		return text // its escapes are those of JavaScript
	}
	return strings.ReplaceAll(text, "1e21", "1e+21")
}

func TestAProgramThatWaits(t *testing.T) {
	r := newHarness(t, programs(t, false))
	a := r.agent()
	write := func(name string) string {
		return `await filesystem.write_file({ path: '` + filepath.Join(r.outside, name) + `', content: 'x' })`
	}
	inside := `await filesystem.read_text_file({ path: '/workspace/a' });`
	t.Run("and is approved", func(t *testing.T) {
		a.send(executeLine("1", inside+`return `+write("a")))
		r.decide(1, true)
		if m := a.answerTo("1"); m.isError() || !strings.Contains(m.text(), "done ") {
			t.Errorf("answer %s", m.Result)
		}
	})
	t.Run("and is no call that another process could go on with", func(t *testing.T) {
		// The program must not end with the first of them that is denied: that takes the other one back.
		a.send(executeLine("6", `await Promise.allSettled([`+strings.TrimPrefix(write("f"), "await ")+`, `+strings.TrimPrefix(write("g"), "await ")+`])`))
		if waiting := len(r.pending(2)); r.proxy.Begun() != waiting+1 {
			t.Errorf("%d calls have begun", r.proxy.Begun())
		}
		r.decide(2, false)
		r.decide(1, false)
		a.answerTo("6")
		eventually(t, func() bool { return r.proxy.Begun() == 0 }, "the end of all")
	})
	t.Run("and is denied", func(t *testing.T) {
		a.send(executeLine("2", `try { `+write("b")+` } catch (e) { return [e instanceof ToolError, e.decision] }`))
		r.decide(1, false)
		if m := a.answerTo("2"); m.text() != `[true,"escalated-denied"]` {
			t.Errorf("answer %s", m.Result)
		}
	})
	t.Run("and is told of", func(*testing.T) {
		a.send(strings.Replace(executeLine("3", write("c")), `"params":{`, `"params":{"_meta":{"progressToken":"p"},`, 1))
		for {
			m := a.receive()
			if m.Method == "notifications/progress" && strings.Contains(string(m.Params), "1 of them waiting for a person") {
				break
			}
		}
		r.decide(1, true)
		a.answerTo("3")
	})
	t.Run("and is taken back", func(t *testing.T) {
		before := len(r.forwarded())
		a.send(executeLine("4", inside+write("d")))
		r.pending(1)
		a.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
		r.pending(0)
		eventually(t, func() bool {
			made := r.ofProgram()
			return made[len(made)-1].Decision == audit.EscalatedWithdrawn
		}, "the record of the withdrawal")
		if n := len(r.forwarded()) - before; n != 1 {
			t.Errorf("%d calls reached the server", n)
		}
	})
	t.Run("and ends without it", func(t *testing.T) {
		a.send(executeLine("5", inside+`filesystem.write_file({ path: '`+filepath.Join(r.outside, "e")+`', content: 'x' }); `+inside+` throw new Error('enough')`))
		m := a.answerTo("5")
		if !m.isError() || !strings.HasPrefix(m.text(), "ERROR: Error: enough") || !strings.Contains(m.text(), "Calls that took effect") || strings.Contains(m.text(), "write_file") {
			t.Errorf("answer %s", m.text())
		}
		r.pending(0)
	})
}

// A program whose agent leaves, or whose proxy ends, ends with it.
func TestAProgramEndsWithItsAgent(t *testing.T) {
	r := newHarness(t, programs(t, false))
	a := r.agent()
	a.send(executeLine("1", `await filesystem.write_file({ path: '`+filepath.Join(r.outside, "a")+`', content: 'x' })`))
	r.pending(1)
	_ = a.conn.Close()
	r.pending(0)
	a = r.agent()
	a.send(executeLine("1", `for (;;) await filesystem.read_text_file({ path: '/workspace/a' })`))
	eventually(t, func() bool { return len(r.forwarded()) > 0 }, "a call")
	r.close()
	if made := r.ofProgram(); made[0].Decision != audit.EscalatedWithdrawn {
		t.Errorf("it ended as %s", made[0].Decision)
	}
}

func TestOnlyPrograms(t *testing.T) {
	r := newHarness(t, programs(t, true))
	a := r.agent()
	a.send(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`)
	var list struct {
		Tools []struct{ Name, Description string }
	}
	if err := json.Unmarshal(a.answerTo("7").Result, &list); err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "proxy__execute" ||
		!strings.Contains(list.Tools[0].Description, "declare namespace filesystem") || strings.Contains(list.Tools[0].Description, "execute(") {
		t.Fatalf("%v, %+v", err, list)
	}
	if m := a.call("1", "filesystem__read_text_file", `{"path":"/workspace/a"}`); !m.isError() || !strings.Contains(m.text(), "call it in a program of proxy__execute") {
		t.Errorf("a plain call: %s", m.Result)
	}
	if m := a.execute("2", `return [typeof globalThis.proxy, await filesystem.read_text_file({ path: '/workspace/a' })]`); m.text() != `["undefined","done /workspace/a"]` {
		t.Errorf("a program: %s", m.Result)
	}
}

// Without the setting there is no such tool, and nothing runs whose record is not durable.
func TestProgramsFailClosed(t *testing.T) {
	r := newHarness(t, nil)
	if m := r.agent().execute("1", `return 1`); !m.isError() || !strings.Contains(m.text(), "there is no such tool") {
		t.Errorf("without the setting: %s", m.Result)
	}
	r = newHarness(t, programs(t, false))
	a := r.agent()
	r.log.set(errors.New("no space left on device"))
	m := a.execute("1", `return await filesystem.read_text_file({ path: '/workspace/a' })`)
	r.log.set(nil)
	if !m.isError() || !strings.Contains(m.text(), "no space left") || len(r.decisions()) > 0 {
		t.Errorf("without an audit: %s", m.Result)
	}
	r.proxy.config.Programs = codemode.NewRunner("/nonexistent", "", codemode.Limits{})
	if m := a.execute("2", `return 1`); !m.isError() || !strings.Contains(m.text(), "start an isolate") {
		t.Errorf("without an isolate: %s", m.Result)
	}
}

// The agent of a program that was killed with its host is told by the next one which of its
// calls took effect, and nothing of it is done again.
func TestAProgramThatIsInterrupted(t *testing.T) {
	var r *harness
	withPrograms := programs(t, false)
	r = newHarness(t, func(c *Config) {
		withPrograms(c)
		c.Tickets = true
		c.Past = func(each func(audit.Line) error) error { return audit.Read(r.logPath, each) }
	})
	a := r.agent()
	code := `await filesystem.read_text_file({ path: '/workspace/a' });
		try { await filesystem.read_text_file({ path: '/proc/self/environ' }) } catch {}
		try { await filesystem.read_text_file({ path: '/workspace/blocked' }) } catch {}
		await Promise.all([filesystem.read_text_file({ path: '/workspace/hang' }), filesystem.write_file({ path: '` + filepath.Join(r.outside, "b") + `', content: 'x' })])`
	a.send(executeLine("1", code))
	var waiting struct{ Ticket string }
	if m := a.receive(); m.Method != notifyWaiting || json.Unmarshal(m.Params, &waiting) != nil || waiting.Ticket == "" {
		t.Fatalf("instead of a ticket: %s %s", m.Method, m.Params)
	}
	r.pending(1)
	eventually(t, func() bool { return len(r.forwarded()) == 3 }, "the calls before")
	_ = a.conn.Close()
	r.pending(0)
	a = r.agent()
	arguments, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		t.Fatal(err)
	}
	for id := range maxRecalled + 1 {
		a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"ticket":%q,"call":{"name":"proxy__execute","arguments":%s}}}`, id, methodResume, waiting.Ticket, arguments))
		text := a.answerTo(fmt.Sprint(id)).text()
		want := []string{"INTERRUPTED", `1. filesystem/read_text_file`, `/workspace/a`, "3. filesystem/read_text_file", "(with an error)", "4. filesystem/read_text_file", "(cut off: not known)"}
		if id == maxRecalled {
			want = []string{"INTERRUPTED", "Look at its effects"}
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Fatalf("answer %d lacks %q: %s", id, w, text)
			}
		}
		if strings.Contains(text, "environ") || strings.Contains(text, "write_file") {
			t.Fatalf("it tells of calls that did nothing: %s", text)
		}
	}
	if n := len(r.forwarded()); n != 3 {
		t.Errorf("%d calls reached the server", n)
	}
}

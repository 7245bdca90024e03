package mcpproxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

// keepsPrograms is a harness whose programs can be run again, changed in those ways.
func keepsPrograms(t *testing.T, changes ...func(*Config)) *harness {
	t.Helper()
	changes = append([]func(*Config){programs(t, false), resumable}, changes...)
	var r *harness
	r = newHarness(t, func(c *Config) {
		c.Past = func(each func(audit.Line) error) error { return audit.Read(r.logPath, each) }
		c.Journals = filepath.Join(filepath.Dir(c.Servers[0].Env[stubVar]), "journals")
		for _, change := range changes {
			change(c)
		}
	})
	return r
}

// killed is what the next process finds after this one was killed now: the records, what is kept
// of programs, and the calls that wait, which it restores. This one does not know of it.
func (r *harness) killed() *harness {
	r.t.Helper()
	n := *r
	n.dir = filepath.Join(r.dir, "next")
	n.logPath, n.socket = filepath.Join(n.dir, "audit.jsonl"), filepath.Join(n.dir, "s")
	journals := filepath.Join(n.dir, "journals")
	if err := os.Mkdir(n.dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	records, err := os.ReadFile(r.logPath)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(n.logPath, records, 0o600); err != nil {
		r.t.Fatal(err)
	}
	if _, err := os.Stat(r.proxy.config.Journals); err == nil {
		if err := os.CopyFS(journals, os.DirFS(r.proxy.config.Journals)); err != nil {
			r.t.Fatal(err)
		}
	}
	log, err := audit.Open(n.logPath, audit.Options{NoSync: true})
	if err != nil {
		r.t.Fatal(err)
	}
	n.log, n.queue = &recorder{Log: log}, approval.New(approval.Options{})
	c := r.proxy.config
	c.Approvals, c.Audit, c.Journals = n.queue, n.log, journals
	c.Past = func(each func(audit.Line) error) error { return audit.Read(n.logPath, each) }
	if n.proxy, err = New(c); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		n.close()
		n.emptied()
		n.queue.Close()
		_ = log.Close()
		if _, err := audit.Verify(n.logPath); err != nil {
			r.t.Error(err)
		}
		if left, err := os.ReadDir(journals); err == nil && len(left) > 0 {
			r.t.Errorf("kept of programs that have ended: %v", left)
		}
	})
	if err := n.proxy.Start(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	l, err := net.Listen("unix", n.socket)
	if err != nil {
		r.t.Fatal(err)
	}
	go func() {
		if err := n.proxy.Serve(l); err != nil {
			r.t.Error(err)
		}
	}()
	for _, item := range r.queue.Pending() {
		n.restore(item)
	}
	return &n
}

// begin starts a program, and returns its ticket when so many of its calls wait.
func (r *harness) begin(code string, waiting int) (a *agent, ticket string) {
	r.t.Helper()
	a = r.agent()
	a.send(executeLine("1", code))
	var m struct{ Ticket string }
	if got := a.receive(); got.Method != notifyWaiting || json.Unmarshal(got.Params, &m) != nil || m.Ticket == "" {
		r.t.Fatalf("instead of a ticket: %s %s", got.Method, got.Params)
	}
	r.pending(waiting)
	return a, m.Ticket
}

func (a *agent) resume(id, ticket, code string) {
	a.t.Helper()
	arguments, _ := json.Marshal(map[string]string{"code": code})
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"ticket":%q,"call":{"name":"proxy__execute","arguments":%s}}}`, id, methodResume, ticket, arguments))
}

// fiveCalls is a program whose third call waits.
func (r *harness) fiveCalls() string {
	return `const read = n => filesystem.read_text_file({ path: '/workspace/' + n });
		const all = [await read('a'), Math.random()];
		all.push(await sleep(1), await read('b')); // what is kept last is the answer of a call
		try { all.push(await filesystem.write_file({ path: '` + filepath.Join(r.outside, "c") + `', content: 'x' })) }
		catch (e) { all.push(e instanceof ToolError, e.decision) }
		all.push(await read('d'), await read('e'), Math.random());
		return all`
}

// once checks that each call of a program has one decision on record, and returns them.
func (r *harness) once(calls int) []audit.Line {
	r.t.Helper()
	made := r.ofProgram()
	ids := map[string]bool{}
	for i, l := range made {
		ids[l.Call] = true
		if l.Detail["index"] != float64(i+1) {
			r.t.Errorf("record %d is of call %v", i+1, l.Detail["index"])
		}
	}
	if len(made) != calls || len(ids) != calls {
		r.t.Errorf("%d records of %d calls, not of %d", len(made), len(ids), calls)
	}
	return made
}

// A program that waited when its process was killed goes on in the next one, as it would have:
// whether it is decided before its agent is back or after, and also after another kill.
func TestAProgramWaitsThroughAKill(t *testing.T) {
	for name, c := range map[string]struct {
		approve, early bool
		kills          int
		decision       audit.Decision
	}{
		"approved":                  {true, false, 1, audit.EscalatedApproved},
		"denied":                    {false, false, 1, audit.EscalatedDenied},
		"approved early":            {true, true, 1, audit.EscalatedApproved},
		"denied early":              {false, true, 1, audit.EscalatedDenied},
		"killed again and approved": {true, false, 3, audit.EscalatedApproved},
	} {
		t.Run(name, func(t *testing.T) {
			r := keepsPrograms(t)
			code := r.fiveCalls()
			control, ticket := r.begin(code, 1)
			n, a := r, control
			for range c.kills {
				n = n.killed()
				a = n.agent()
				if c.early {
					n.decide(1, c.approve)
				}
				a.resume("7", ticket, code)
				if !c.early {
					eventually(t, func() bool { i := n.pending(1)[0]; return i.Restored && !i.Unclaimed }, "the program at its call")
				}
			}
			if !c.early {
				if from := n.pending(1)[0].Program; from == nil || from.ID != ticket || from.Index != 3 || from.Line != 4 || !strings.HasPrefix(from.Source, "try { all.push(await filesystem.write_file(") {
					t.Errorf("waits as made by %+v", from)
				}
				n.decide(1, c.approve)
			}
			got := a.answerTo("7")
			sent := len(r.forwarded())
			if want := map[bool]int{true: 5, false: 4}[c.approve]; sent != want {
				t.Errorf("%d calls were sent", sent)
			}
			r.decide(1, c.approve)
			if want := control.answerTo("1"); got.isError() || got.text() != want.text() {
				t.Errorf("after the kill %s, without it %s", got.Result, want.Result)
			}
			if made := n.once(5); made[2].Decision != c.decision || made[2].Detail["askedBeforeRestart"] != true || made[2].Detail["line"] != 4.0 {
				t.Errorf("%+v", made[2])
			}
			again := n.records(func(l audit.Line) bool { return l.Call == ticket && l.Decision == audit.Noted })
			if len(again) != c.kills || !strings.Contains(again[0].Reason, "run again, and 2 of its calls") {
				t.Errorf("%+v", again)
			}
			eventually(t, func() bool {
				return len(n.records(func(l audit.Line) bool { return l.Call == ticket && l.Outcome == audit.Answered })) == 1
			}, "the end of the program")
			a.resume("8", ticket, code)
			if m := a.answerTo("8"); !strings.HasPrefix(m.text(), "INTERRUPTED") {
				t.Errorf("asked for once more: %s", m.Result)
			}
		})
	}
}

// The git server of the next process does not know in which directory the one before worked. Calls
// that name none go there all the same, the one that waits as well as those behind it: to the one
// that was entered last, not to one that could not be.
func TestAProgramStaysInItsRepository(t *testing.T) {
	r := keepsPrograms(t, realServers(t))
	for _, name := range []string{"first", "second"} {
		init := exec.Command("sh", "-c", `git init -q "$0" && touch "$0/of-the-$1" && git -C "$0" remote add origin "https://$1.invalid/x.git"`, filepath.Join(r.work, name), name)
		if out, err := init.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	code := `for (const path of ['first', 'second', 'absent']) {
			try { await git.git_set_working_dir({ path: '/workspace/' + path }) } catch (e) { if (path !== 'absent') throw e }
		}
		try { await git.git_push({ remote: 'origin' }) } catch (e) { if (e.decision !== 'escalated-denied') throw e }
		return JSON.stringify(await git.git_status({}))`
	first, ticket := r.begin(code, 1)
	n := r.killed()
	a := n.agent()
	a.resume("7", ticket, code)
	eventually(t, func() bool { i := n.pending(1)[0]; return i.Restored && !i.Unclaimed }, "the program at its call")
	n.decide(1, false)
	if m := a.answerTo("7"); m.isError() || !strings.Contains(m.text(), "of-the-second") || strings.Contains(m.text(), "of-the-first") {
		t.Errorf("%s", m.Result)
	}
	_ = first.conn.Close()
}

// decideAbout decides about the call with such arguments.
func (r *harness) decideAbout(arguments string, approve bool) {
	r.t.Helper()
	for _, i := range r.queue.Pending() {
		if !strings.Contains(string(i.Arguments), arguments) {
			continue
		}
		if _, won, err := r.queue.Answer(i.ID, i.Digest, approval.Answer{Approve: approve, By: "tui", Effect: i.Fingerprint()}); !won || err != nil {
			r.t.Fatal(won, err)
		}
	}
}

// What happened beside the call that waits is kept, too.
func TestSeveralCallsWaitThroughAKill(t *testing.T) {
	r := keepsPrograms(t)
	write := func(name string) string {
		return `filesystem.write_file({ path: '` + filepath.Join(r.outside, name) + `', content: 'x' }).catch(e => e.decision)`
	}
	code := `const all = await Promise.all([` + write("a") + `, ` + write("b") + `, ` + write("c") + `.then(() => filesystem.read_text_file({ path: '/workspace/d' }))]);
		return [...all, await filesystem.read_text_file({ path: '/workspace/e' })]`
	first, ticket := r.begin(code, 3)
	r.decideAbout("/c", true)
	journal := filepath.Join(r.proxy.config.Journals, ticket+".jsonl")
	eventually(t, func() bool { data, _ := os.ReadFile(journal); return bytes.Count(data, []byte("\n")) == 3 }, "two answers that are kept")
	n := r.killed()
	a := n.agent()
	a.resume("7", ticket, code)
	eventually(t, func() bool {
		return !slices.ContainsFunc(n.pending(2), func(i approval.Escalation) bool { return i.Unclaimed })
	}, "the calls that wait again")
	n.decideAbout("/b", false)
	n.decideAbout("/a", true)
	var got []string
	if m := a.answerTo("7"); json.Unmarshal([]byte(m.text()), &got) != nil || len(got) != 4 || !strings.HasPrefix(got[0], "done") || got[1] != "escalated-denied" || got[2] != "done /workspace/d" {
		t.Errorf("%s", m.Result)
	}
	n.once(5)
	if sent := len(r.forwarded()); sent != 4 {
		t.Errorf("%d calls were sent", sent)
	}
	_ = first.conn.Close()
}

// A program that cannot be run again for certain ends as interrupted. Nothing of it is done, and
// nobody can decide about it any more.
func TestAProgramThatIsNotRunAgain(t *testing.T) {
	for name, c := range map[string]struct {
		code   func(r *harness) string // nil: five calls
		change func(t *testing.T, n *harness, journal string)
		tools  string // of the next process's server; empty: the same
		other  string // the program that the agent asks for, behind the code
		want   string
	}{
		"another program": {other: " ", want: "2. filesystem/read_text_file"},
		"no journal": {change: func(t *testing.T, _ *harness, journal string) {
			t.Helper()
			if err := os.Remove(journal); err != nil {
				t.Fatal(err)
			}
		}, want: "2. filesystem/read_text_file"},
		"another order": {change: func(t *testing.T, _ *harness, journal string) {
			t.Helper()
			data, err := os.ReadFile(journal)
			lines := slices.Collect(bytes.Lines(data))
			if err != nil || len(lines) != 4 {
				t.Fatalf("%v: %s", err, data)
			}
			lines[1], lines[2] = lines[2], lines[1]
			if err := os.WriteFile(journal, bytes.Join(lines, nil), 0o600); err != nil {
				t.Fatal(err)
			}
		}, want: "2. filesystem/read_text_file"},
		"a changed tool": {tools: strings.Replace(fileTools, "Reads", "Reads well", 1), want: "2. filesystem/read_text_file"},
		"a call that was sent": {code: func(r *harness) string {
			return `await Promise.all([filesystem.read_text_file({ path: '/workspace/hang' }), filesystem.write_file({ path: '` + filepath.Join(r.outside, "b") + `', content: 'x' })])`
		}, want: "(cut off: not known)"},
	} {
		t.Run(name, func(t *testing.T) {
			r := keepsPrograms(t)
			code := r.fiveCalls()
			if c.code != nil {
				code = c.code(r)
			}
			_, ticket := r.begin(code, 1)
			if c.code != nil {
				eventually(t, func() bool { return len(r.forwarded()) == 1 }, "the call that is sent")
			}
			sent := len(r.forwarded())
			if c.tools != "" {
				if err := os.WriteFile(filepath.Join(r.stub, "tools.json"), []byte(c.tools), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			n := r.killed()
			if c.change != nil {
				c.change(t, n, filepath.Join(n.proxy.config.Journals, ticket+".jsonl"))
			}
			a := n.agent()
			a.resume("7", ticket, code+c.other)
			if m := a.answerTo("7"); !m.isError() || !strings.HasPrefix(m.text(), "INTERRUPTED") || !strings.Contains(m.text(), c.want) {
				t.Errorf("%s", m.Result)
			}
			n.pending(0)
			if now := len(r.forwarded()); now != sent {
				t.Errorf("%d calls were sent", now-sent)
			}
		})
	}
}

// However much of a journal is left, nothing is sent twice.
func TestAJournalTornAtEveryByte(t *testing.T) {
	r := keepsPrograms(t)
	code := r.fiveCalls()
	_, ticket := r.begin(code, 1)
	item := r.queue.Pending()[0]
	n := r.killed()
	journal := filepath.Join(n.proxy.config.Journals, ticket+".jsonl")
	data, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	a := n.agent()
	for size := range data {
		if size > 0 {
			n.restore(item)
		}
		if err := os.WriteFile(journal, data[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		a.resume("7", ticket, code)
		if m := a.answerTo("7"); !strings.HasPrefix(m.text(), "INTERRUPTED") || len(n.queue.Pending()) > 0 {
			t.Fatalf("%d bytes: %s", size, m.Result)
		}
	}
	if sent := len(r.forwarded()); sent != 2 {
		t.Errorf("%d calls were sent", sent)
	}
	n.restore(item)
	if err := os.WriteFile(journal, data, 0o600); err != nil {
		t.Fatal(err)
	}
	a.resume("7", ticket, code)
	eventually(t, func() bool { return !n.pending(1)[0].Unclaimed }, "the program at its call")
	n.decide(1, true)
	if m := a.answerTo("7"); m.isError() || len(r.forwarded()) != 5 {
		t.Errorf("%s", m.Result)
	}
}

// A program that has got a secret, masked, is not kept: its call cannot wait again.
func TestSecretsAreNotKept(t *testing.T) {
	r := keepsPrograms(t)
	code := `await filesystem.read_text_file({ path: '/workspace/secret' }); await filesystem.write_file({ path: '` + filepath.Join(r.outside, "a") + `', content: 'x' })`
	r.begin(code, 1)
	if item := r.queue.Pending()[0]; item.Ticket != "" {
		t.Errorf("it can wait again: %+v", item)
	}
	if left, _ := os.ReadDir(r.proxy.config.Journals); len(left) > 0 {
		t.Errorf("kept: %v", left)
	}
}

// An agent that asks for a program that runs does not get it twice, nor one that nobody knows.
func TestAProgramThatRunsIsNotRunAgain(t *testing.T) {
	r := keepsPrograms(t)
	code := r.fiveCalls()
	first, ticket := r.begin(code, 1)
	a := r.agent()
	for _, ticket := range []string{ticket, "../journals/" + ticket, strings.Repeat("0", 16)} {
		a.resume("7", ticket, code)
		if m := a.answerTo("7"); !strings.HasPrefix(m.text(), "INTERRUPTED") {
			t.Errorf("%s", m.Result)
		}
	}
	r.decide(1, true)
	if m := first.answerTo("1"); m.isError() || len(r.forwarded()) != 5 {
		t.Errorf("%s", m.Result)
	}
}

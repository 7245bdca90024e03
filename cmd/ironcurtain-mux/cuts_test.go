package main

import (
	"crypto/sha256"
	"encoding/pem"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
)

// "make endure" has a thousand. After the first 60 there is one in three seconds (broker/reach).
var enduredCuts = flag.Int("cuts", 20, "how often TestNothingIsLostOverCuts cuts the stream to each container")

// cutting is an engine whose line is slow, and whose streams are cut all the time.
type cutting struct {
	*fakeengine.Engine
	cuts atomic.Int64
}

func (c *cutting) begin() {
	c.Set(fakeengine.Faults{Delay: 20 * time.Millisecond, Cut: func() time.Duration {
		c.cuts.Add(1)
		return time.Duration(200+rand.IntN(400)) * time.Millisecond
	}})
	c.Disconnect()
}

// another waits until the stream is cut once more, or often enough.
func (c *cutting) another() {
	was := c.cuts.Load()
	eventually(time.Minute, func() bool { return c.cuts.Load() > was || c.over() })
}

func (c *cutting) over() bool { return c.cuts.Load() >= int64(*enduredCuts) }

// Over a line that is slow and cut all the time a person types, tools are called and a model
// answers: each key and each line arrives once and in order, each call is answered and on record
// once, and the answer comes whole.
func TestNothingIsLostOverCuts(t *testing.T) {
	t.Parallel()
	for _, files := range []string{"shared", copiedFiles} {
		t.Run(files, func(t *testing.T) {
			t.Parallel()
			d, line, kept := driveOverCuts(t, files)
			d.see(patience, "mine$")
			s := d.onlySession()
			in := work{t: t, s: s}
			if files == copiedFiles {
				in.engine = engine(t)
			}
			client := d.toolsIn(t, in)
			d.send(askModel + " >/tmp/answer &\r")
			d.send("clear; echo rea''dy; cat >typed\r")
			d.see(patience, "ready")
			line.begin()
			called := make(chan int, 1)
			go func() {
				defer close(called) // a call that fails the test sends nothing
				called <- callOverCuts(d, line, client)
			}()
			want := typeOverCuts(d, line)
			n := <-called
			d.send("\x04")
			d.send("wait %curl; echo it is o''ver\r")
			d.see(patience, "it is over")
			line.Set(fakeengine.Faults{})
			t.Logf("%d cuts, %d calls, %d bytes typed", line.cuts.Load(), n, len(want))
			if got, _ := in.read("typed"); got != want {
				t.Errorf("typed was %s", differing(got, want))
			}
			if got := shown(string(d.scrollback(kept))); got != want {
				t.Errorf("shown was %s", differing(got, want))
			}
			if sum := d.inside(s.ID, "sha256sum /tmp/answer"); !strings.HasPrefix(sum, answerSum()) {
				t.Errorf("the model's answer is not what it sent: %s", d.inside(s.ID, "wc -c /tmp/answer; head -c 300 /tmp/answer"))
			}
			if answers, _ := in.read("answers"); strings.Count(answers, "\n") != n+1 || strings.Contains(answers, "INTERRUPTED") {
				t.Errorf("%d lines answer %d calls and a hello:\n%.2000s", strings.Count(answers, "\n"), n, answers)
			}
			record := d.audit(s.ID)
			for _, decision := range []string{"allow", "done"} {
				if got := strings.Count(record, `"plane":"tool","decision":"`+decision+`"`); got != n {
					t.Errorf("%d of %d calls are on record as %s", got, n, decision)
				}
			}
			d.quit()
			d.traceless()
		})
	}
}

// driveOverCuts opens a tab of an agent that can ask a model, on an engine whose streams can be cut.
// kept is the file to which its scrollback is copied.
func driveOverCuts(t *testing.T, files string) (d *driver, line *cutting, kept string) {
	t.Helper()
	home, e := withEngine(t, fakeengine.Faults{})
	line = &cutting{Engine: e}
	model := answering(line)
	t.Cleanup(model.Close)
	writeFile(t, filepath.Join(home, "ca.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: model.Certificate().Raw})))
	toolAgent(t, home, map[string]any{
		"scrollback": 100_000, "strip": false, "providers": []string{"anthropic"},
		"engine": map[string]string{"use": e.Address(), "way": "stream", "files": files},
	})
	editor, kept := copier(t, home)
	d = driveArgv(t, home, 120, 30, "env", "VISUAL="+editor, "ANTHROPIC_API_KEY=sk-ant-api03-real", "ironcurtain-mux",
		"--agent", "mine", "--upstream", "api.anthropic.com="+model.URL, "--upstream-ca", filepath.Join(home, "ca.pem"))
	return d, line, kept
}

// typeOverCuts types lines until the stream was cut often enough, and returns them.
func typeOverCuts(d *driver, line *cutting) string {
	var typed strings.Builder
	for i := 0; !line.over(); i++ {
		text := fmt.Sprintf("<%d %s>", i, strings.Repeat("x", i%40))
		fmt.Fprintln(&typed, text)
		d.send(text + "\r")
		if i%20 == 19 {
			line.another()
		}
	}
	return typed.String()
}

// callOverCuts has a file read and one written at every tenth cut, and returns how many calls
// that were.
func callOverCuts(d *driver, line *cutting, c agentClient) (calls int) {
	answer := func(tool, arguments string) (text string) {
		calls++
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, calls, tool, arguments))
		if !eventually(patience, func() bool { text = c.answer(calls); return text != "" }) {
			d.t.Errorf("call %d has no answer", calls)
		}
		return text
	}
	for n := int64(1); n <= int64(*enduredCuts)/10; n++ {
		for line.cuts.Load() < 10*n {
			line.another()
		}
		name, text := fmt.Sprintf("by-agent-%d", n), fmt.Sprintf("text %d of the agent's", n)
		c.work.add(name, text)
		if got := answer("filesystem__read_text_file", fmt.Sprintf(`{"path":"/workspace/%s"}`, name)); !strings.Contains(got, text) {
			d.t.Errorf("reading %s: %s", name, got)
		}
		name, text = fmt.Sprintf("by-tool-%d", n), fmt.Sprintf("text %d of the tool's", n)
		wrote := answer("filesystem__write_file", fmt.Sprintf(`{"path":"/workspace/%s","content":%q}`, name, text))
		if got, _ := c.work.read(name); got != text {
			d.t.Errorf("%s has %q after %s", name, got, wrote)
		}
	}
	return calls
}

// shown are the lines that were typed, as they came back.
func shown(screen string) string {
	var lines strings.Builder
	for l := range strings.Lines(screen) {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "<") && strings.HasSuffix(l, ">") {
			lines.WriteString(l + "\n")
		}
	}
	return lines.String()
}

// differing says where two texts begin to differ.
func differing(got, want string) string {
	n := 0
	for n < min(len(got), len(want)) && got[n] == want[n] {
		n++
	}
	return fmt.Sprintf("%d bytes in place of %d, and from %d on %q, not %q", len(got), len(want), n, got[n:min(n+80, len(got))], want[n:min(n+80, len(want))])
}

// askModel is how the agent's shell asks a model.
const askModel = `curl -sS -N -H "x-api-key: $ANTHROPIC_API_KEY" -H 'content-type: application/json' -H 'anthropic-version: 2023-06-01' ` +
	`-d '{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"x"}]}' https://api.anthropic.com/v1/messages`

// answerPieces is how many pieces the model's answer has: 10 MB when there are a hundred.
func answerPieces() int { return min(*enduredCuts, 100) }

// answerPiece is a piece of the answer, of 100 KB.
func answerPiece(n int) string {
	return fmt.Sprintf("data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%d %s\"}}\n\n", n, strings.Repeat("word ", 20_000))
}

func answerSum() string {
	all := sha256.New()
	for n := range answerPieces() {
		fmt.Fprint(all, answerPiece(n))
	}
	return fmt.Sprintf("%x", all.Sum(nil))
}

// answering is a model that sends one piece of its answer for each cut.
func answering(line *cutting) *httptest.Server {
	return httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for n := range answerPieces() {
			if r.Context().Err() != nil {
				return
			}
			_, _ = fmt.Fprint(w, answerPiece(n))
			_ = http.NewResponseController(w).Flush()
			line.another()
		}
	}))
}

package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// A call by a grant is judged twice in a row and fetched once.
func TestAGrantedCallIsFetchedOnce(t *testing.T) {
	s := grant.New(nil)
	r, w := withCopies(t, func(c *Config) { c.Grants = s })
	a := r.agent()
	file := filepath.Join(r.outside, "notes.txt")
	a.send(callLine("1", "filesystem__write_file", write(file, "one")))
	r.remember(s, grant.File, time.Minute)
	a.answerTo("1")
	w.crossed(t, 2, 1) // before it is judged, and after the approval
	if m := a.call("2", "filesystem__write_file", write(file, "two")); m.isError() {
		t.Fatal(m.text())
	}
	w.crossed(t, 3, 2)
}

// A call that goes on in another process by its ticket crosses there.
func TestAResumedCallCrosses(t *testing.T) {
	r, w := withCopies(t, resumable)
	arguments := write(filepath.Join(r.outside, "a"), "x")
	f := r.left(1, arguments)
	r.restore(f)
	w.crossed(t, 1, 0)
	w.set(nil, func(context.Context, int) (string, error) { return "a note", nil })
	a := r.agent()
	a.send(resumeLine("7", f.Ticket, arguments))
	eventually(t, func() bool { i, ok := r.queue.Find(f.ID); return ok && !i.Unclaimed }, "the call")
	if _, won, err := r.queue.Answer(f.ID, f.Digest, approval.Answer{Approve: true, Effect: f.Fingerprint(), By: "tui"}); !won || err != nil {
		t.Fatal(won, err)
	}
	if m := a.answerTo("7"); m.isError() || !slices.Contains(m.blocks(), "a note") {
		t.Errorf("answer %s", m.Result)
	}
	w.crossed(t, 3, 1)
}

// An agent that takes a call back does not wait for files, and the call is not judged.
func TestTakenBackWhileFilesAreFetched(t *testing.T) {
	r, w := withCopies(t)
	begun, end := make(chan struct{}, 1), make(chan struct{})
	w.set(func(ctx context.Context, _ int) error {
		begun <- struct{}{}
		select {
		case <-end:
		case <-ctx.Done():
		}
		return ctx.Err()
	}, nil)
	a := r.agent()
	a.send(callLine("1", "filesystem__read_text_file", `{"path":"/workspace/a"}`))
	<-begun
	a.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	eventually(t, func() bool { return len(r.decisions()) == 1 }, "its record")
	if d := r.decisions()[0]; d.Rule != policy.RuleWithdrawn || d.Decision != audit.Deny {
		t.Errorf("record %+v", d)
	}
	if len(r.forwarded()) != 0 {
		t.Error("it was forwarded")
	}
	close(end)
}

// The end of the session does not wait for files in any direction.
func TestTheEndWaitsForNoFiles(t *testing.T) {
	for _, back := range []bool{false, true} {
		t.Run(fmt.Sprint("back: ", back), func(t *testing.T) {
			r, w := withCopies(t)
			begun := make(chan struct{}, 1)
			hang := func(ctx context.Context) error {
				begun <- struct{}{}
				<-ctx.Done()
				return ctx.Err()
			}
			if back {
				w.set(nil, func(ctx context.Context, _ int) (string, error) { return "", hang(ctx) })
			} else {
				w.set(func(ctx context.Context, _ int) error { return hang(ctx) }, nil)
			}
			a := r.agent()
			a.send(callLine("1", "filesystem__read_text_file", `{"path":"/workspace/a"}`))
			<-begun
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if err := r.proxy.Close(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// Files that do not come within the time of a call are an error.
func TestFilesThatTakeTooLong(t *testing.T) {
	r, w := withCopies(t, func(c *Config) { c.Limits.Call = 20 * time.Millisecond })
	w.set(func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }, nil)
	if m := r.agent().call("1", "filesystem__read_text_file", `{"path":"/workspace/a"}`); !m.isError() || !strings.Contains(m.text(), "took longer than 20ms") {
		t.Errorf("answer %s", m.Result)
	}
}

// Those that need files at once share a transfer, and none has one that began before it.
func TestCrossingsAreShared(t *testing.T) {
	begun, end := make(chan struct{}), make(chan struct{})
	n := 0
	var running sync.WaitGroup
	s := transfers{running: &running, move: func() (string, error) {
		if n++; n == 1 {
			close(begun)
			<-end
		}
		return fmt.Sprint(n), nil
	}}
	first := s.join()
	<-begun
	second := s.join()
	if second == first || s.join() != second || s.join() != second {
		t.Error("who comes while one is under way does not share the next")
	}
	close(end)
	<-first.done
	<-second.done
	running.Wait()
	if third, err := s.wait(t.Context()); first.note != "1" || second.note != "2" || third != "3" || err != nil {
		t.Errorf("transfers %q, %q, %q, %v", first.note, second.note, third, err)
	}
	running.Wait()
}

// Each of many calls finds here what the agent wrote before it, and the agent finds what the call
// wrote.
func TestManyCallsCross(t *testing.T) {
	const agents, rounds = 8, 12
	r, w := withCopies(t)
	var mu sync.Mutex
	there, here := map[string]bool{}, map[string]bool{} // what the agents wrote, and what has come
	w.set(func(context.Context, int) error {
		mu.Lock()
		defer mu.Unlock()
		for name := range there {
			here[name] = true
		}
		return nil
	}, nil)
	var group sync.WaitGroup
	for n := range agents {
		a := r.agent()
		group.Go(func() {
			for round := range rounds {
				name := fmt.Sprint(n, "-", round)
				mu.Lock()
				there[name] = true
				mu.Unlock()
				a.send(callLine(fmt.Sprint(round), "filesystem__read_text_file", fmt.Sprintf(`{"path":"/workspace/%s"}`, name)))
				if m := a.answerTo(fmt.Sprint(round)); m.isError() {
					t.Errorf("%s", m.Result)
				}
				mu.Lock()
				if !here[name] {
					t.Errorf("%s was judged without what the agent wrote before", name)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fetched > agents*rounds || w.returned > agents*rounds {
		t.Errorf("fetched %d, returned %d times", w.fetched, w.returned)
	}
}

// Each call of a program crosses. What there is to say is said once behind the program's result,
// and the program's code gets the values as they are.
func TestProgramsCross(t *testing.T) {
	r, w := withCopies(t, programs(t, false))
	w.set(nil, func(_ context.Context, n int) (string, error) {
		if n == 3 {
			return "", errors.New("the disk there is full")
		}
		return "a.txt was changed on both sides", nil
	})
	m := r.agent().execute("1", `const all = []; for (const n of ['a', 'b', 'c']) all.push(await filesystem.read_text_file({ path: '/workspace/' + n })); return all`)
	got := m.blocks()
	if m.isError() || len(got) != 3 || got[0] != `["done /workspace/a","done /workspace/b","done /workspace/c"]` ||
		got[1] != "a.txt was changed on both sides" || !strings.HasPrefix(got[2], "filesystem/read_text_file was carried out, but its result has not arrived") {
		t.Errorf("answer %s", m.Result)
	}
	w.crossed(t, 3, 3)
	w.set(func(context.Context, int) error { return errors.New("the line is cut") }, nil)
	m = r.agent().execute("2", `try { await filesystem.read_text_file({ path: '/workspace/a' }) } catch (e) { return [e.decision, e.rule] }`)
	if m.text() != `["deny","`+ruleFiles+`"]` {
		t.Errorf("answer %s", m.Result)
	}
}

// Where both have the same files, nothing is added to a call.
func TestNothingCrossesWhereFilesAreShared(t *testing.T) {
	r := newHarness(t, nil)
	c := &call{proxy: r.proxy, sent: true, target: target{"filesystem", "write_file"}}
	result := json.RawMessage(`{"content":[]}`)
	if n := testing.AllocsPerRun(100, func() {
		if c.fetchFiles(t.Context()) != nil {
			t.Error("a verdict")
		}
		c.returnFiles(t.Context())
		result = c.withNotes(result)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

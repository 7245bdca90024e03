package mcpproxy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
)

// However many answer a call at once, one answer counts, it has one effect, and
// the others learn whose it was.
func TestManyAnswersOneEffect(t *testing.T) {
	r := newHarness(t, nil)
	a := r.agent()
	const calls, answerers = 30, 4
	for n := range calls {
		a.send(callLine(fmt.Sprint(n+1), "filesystem__read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(r.outside, fmt.Sprint(n)))))
	}
	items := r.pending(calls)
	var won, approved atomic.Int64
	var group sync.WaitGroup
	for ui := range answerers {
		group.Go(func() {
			for i := range items {
				item := items[(i+ui*7)%calls]
				approve := (item.Number+ui)%2 == 0
				res, mine, err := r.queue.Decide(item.ID, item.Digest, approve, fmt.Sprint("ui", ui), "")
				switch {
				case err != nil:
					t.Error(err)
				case mine:
					won.Add(1)
					if approve {
						approved.Add(1)
					}
				case res.By == fmt.Sprint("ui", ui):
					t.Errorf("%s was told that it decided and that it did not", res.By)
				}
			}
		})
	}
	group.Wait()
	for range calls {
		a.receive()
	}
	if won.Load() != calls || int64(len(r.forwarded())) != approved.Load() {
		t.Fatalf("%d answers counted, %d approved, %d forwarded", won.Load(), approved.Load(), len(r.forwarded()))
	}
	seen := map[string]int{}
	for _, d := range r.decisions() {
		seen[d.EscalationID]++
	}
	for _, item := range items {
		if seen[item.ID] != 1 {
			t.Errorf("%s has %d records", item.ID, seen[item.ID])
		}
	}
}

// An answer that comes after the tab was closed approves nothing, and says why.
func TestAnAnswerAfterTheTabWasClosed(t *testing.T) {
	r := newHarness(t, nil)
	a := r.agent()
	a.send(r.outsideCall("1"))
	item := r.pending(1)[0]
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.proxy.Close(ctx); err != nil {
		t.Fatal(err)
	}
	res, won, err := r.queue.Answer(item.ID, item.Digest, approval.Answer{Approve: true, By: "cli"})
	if err != nil || won || res.Outcome != approval.Withdrawn {
		t.Fatal(res, won, err)
	}
	if d := r.decisions(); len(d) != 1 || d[0].Decision != audit.EscalatedWithdrawn || len(r.forwarded()) != 0 {
		t.Fatalf("records %v", d)
	}
}

// With the real server in the real sandbox: a granted path outside is open for
// each call it lets through, and no longer once the grant has ended.
func TestAGrantedPathIsOpenForItsCallsOnly(t *testing.T) {
	contained, s := realServers(t), grant.New(nil)
	r := newHarness(t, func(c *Config) {
		contained(c)
		c.Servers = c.Servers[:1]
		files := &c.Servers[0]
		files.Argv = files.Argv[:len(files.Argv)-2]
		files.Roots = files.Argv[len(files.Argv)-1:]
		c.Grants = s
	})
	if err := os.WriteFile(filepath.Join(r.outside, "a.txt"), []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := r.agent()
	read := fmt.Sprintf(`{"path":%q}`, filepath.Join(r.outside, "a.txt"))
	a.send(callLine("1", "filesystem__read_text_file", read))
	g := r.remember(s, grant.File, time.Minute)
	for id := range 5 {
		if id > 0 {
			a.send(callLine(fmt.Sprint(id+1), "filesystem__read_text_file", read))
		}
		if m := a.answerTo(fmt.Sprint(id + 1)); m.isError() || m.text() != "content" {
			t.Fatalf("%s", m.Result)
		}
		if m := a.call("90", "filesystem__list_allowed_directories", `{}`); strings.Contains(m.text(), "outside") {
			t.Fatalf("it stays open: %s", m.Result)
		}
	}
	if _, err := s.Revoke(g.Number); err != nil {
		t.Fatal(err)
	}
	a.send(callLine("99", "filesystem__read_text_file", read))
	if item := r.pending(1)[0]; item.Tool != "read_text_file" {
		t.Fatal(item)
	}
}

// approvals measures how long approved calls take from the decision to the
// answer of a server that does nothing: judged again, recorded on the disk and
// forwarded; and by turns with them calls that nobody has to approve. Both are in
// ascending order.
func approvals(t testing.TB, n int) (approved, allowed []time.Duration) {
	t.Helper()
	var log *audit.Log
	r := newHarness(t, func(c *Config) {
		var err error
		if log, err = audit.Open(filepath.Join(t.TempDir(), "audit.jsonl"), audit.Options{}); err != nil {
			t.Fatal(err)
		}
		c.Audit, c.Limits.Alike, c.Limits.Escalations = log, n+1, n+1
	})
	t.Cleanup(func() { _ = log.Close() })
	a := r.agent()
	for i := range n {
		id := fmt.Sprint(i + 1)
		begun := time.Now()
		if m := a.call(`"allowed"`, "filesystem__read_text_file", fmt.Sprintf(`{"path":"/workspace/%s"}`, id)); m.isError() {
			t.Fatalf("%s", m.Result)
		}
		allowed = append(allowed, time.Since(begun))

		a.send(callLine(id, "filesystem__read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(r.outside, id))))
		item := r.pending(1)[0]
		begun = time.Now()
		if _, won, err := r.queue.Decide(item.ID, item.Digest, true, "tui", ""); !won || err != nil {
			t.Fatal(won, err)
		}
		if m := a.answerTo(id); m.isError() {
			t.Fatalf("%s", m.Result)
		}
		approved = append(approved, time.Since(begun))
	}
	slices.Sort(approved)
	slices.Sort(allowed)
	return approved, allowed
}

// An approved call is with its server within five milliseconds, beyond what this
// machine and its disk now take for one that nobody has to approve.
func TestApprovedCallsGoOnAtOnce(t *testing.T) {
	approved, allowed := approvals(t, 60)
	if quarter, usual := approved[len(approved)/4], allowed[len(allowed)/4]; quarter > usual+5*time.Millisecond {
		t.Errorf("three of four approved calls took more than %v, of others more than %v", quarter, usual)
	}
}

// BenchmarkApproval measures from a decision to the server's answer, with the
// record on the disk:
//
//	go test -run '^$' -bench Approval ./broker/mcpproxy
func BenchmarkApproval(b *testing.B) {
	times, _ := approvals(b, max(b.N, 2))
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-us")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-us")
}

package mcpproxy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
)

// remember approves the one waiting call and keeps a grant of that scope.
func (r *harness) remember(s *grant.Store, scope grant.Scope, limit time.Duration) grant.Grant {
	r.t.Helper()
	item := r.pending(1)[0]
	for _, o := range item.Offers {
		if o.Scope != scope {
			continue
		}
		if _, won, err := r.queue.Answer(item.ID, item.Digest, approval.Answer{Approve: true, By: "tui", Remembered: o.Text, Effect: item.Fingerprint()}); err != nil || !won {
			r.t.Fatal(won, err)
		}
		g, err := s.Add(item.Session, o, "tui", identity.Client{}, item.ID, limit)
		if err != nil {
			r.t.Fatal(err)
		}
		return g
	}
	r.t.Fatalf("no %s among %+v", scope, item.Offers)
	return grant.Grant{}
}

func grantHarness(t *testing.T, now func() time.Time) (*harness, *grant.Store) {
	t.Helper()
	s := grant.New(now)
	return newHarness(t, func(c *Config) { c.Grants = s }), s
}

func write(path, content string) string {
	return fmt.Sprintf(`{"path":%q,"content":%q}`, path, content)
}

// A file that was granted can be written again with other text; its neighbor,
// a link to elsewhere and another tool ask.
func TestGrantedFile(t *testing.T) {
	r, s := grantHarness(t, nil)
	a := r.agent()
	file := filepath.Join(r.outside, "notes.txt")
	a.send(callLine("1", "filesystem__write_file", write(file, "one")))
	g := r.remember(s, grant.File, time.Minute)
	if m := a.answerTo("1"); m.isError() {
		t.Fatal(m.text())
	}
	if m := a.call("2", "filesystem__write_file", write(file, "two")); m.isError() {
		t.Fatal(m.text())
	}
	for id, call := range map[string]string{
		"3": callLine("3", "filesystem__write_file", write(file+"x", "two")),
		"4": callLine("4", "filesystem__read_text_file", fmt.Sprintf(`{"path":%q}`, file)),
	} {
		t.Run(id, func(t *testing.T) {
			a.send(call)
			item := r.pending(1)[0]
			if _, _, err := r.queue.Decide(item.ID, item.Digest, false, "tui", ""); err != nil {
				t.Fatal(err)
			}
			if m := a.answerTo(id); !m.isError() {
				t.Errorf("%s went through", id)
			}
		})
	}
	records := r.decisions()
	granted := records[1]
	if granted.Decision != audit.Granted || granted.DecidedBy != "tui" || granted.EscalationID != g.Escalation || granted.Detail["grant"] != float64(g.Number) {
		t.Fatalf("record %+v", granted.Record)
	}
	if records[0].Decision != audit.EscalatedApproved || records[0].Detail["remembered"] != g.Text {
		t.Fatalf("record %+v", records[0].Record)
	}
	if _, err := s.Revoke(g.Number); err != nil {
		t.Fatal(err)
	}
	a.send(callLine("5", "filesystem__write_file", write(file, "three")))
	r.pending(1)
	if n := len(r.forwarded()); n != 2 {
		t.Fatalf("%d calls were forwarded", n)
	}
}

// What the path means is judged for each call: a link that turns up in place of
// the granted file is not what was granted.
func TestGrantFollowsTheFileNotTheName(t *testing.T) {
	r, s := grantHarness(t, nil)
	a := r.agent()
	file, other := filepath.Join(r.outside, "notes.txt"), filepath.Join(r.outside, "other.txt")
	for _, name := range []string{file, other} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a.send(callLine("1", "filesystem__write_file", write(file, "one")))
	r.remember(s, grant.File, time.Minute)
	a.answerTo("1")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, file); err != nil {
		t.Fatal(err)
	}
	a.send(callLine("2", "filesystem__write_file", write(file, "two")))
	if item := r.pending(1)[0]; !strings.Contains(string(item.Arguments), "other.txt") {
		t.Fatalf("asked about %s", item.Arguments)
	}
}

func TestGrantedDirectoryExpires(t *testing.T) {
	var shift atomic.Int64
	r, s := grantHarness(t, func() time.Time { return time.Now().Add(time.Duration(shift.Load())) })
	a := r.agent()
	a.send(callLine("1", "filesystem__write_file", write(r.outside+"/a.txt", "")))
	r.remember(s, grant.Directory, time.Minute)
	a.answerTo("1")
	if m := a.call("2", "filesystem__write_file", write(r.outside+"/b.txt", "")); m.isError() {
		t.Fatal(m.text())
	}
	for n, path := range []string{r.outside + "/.b", r.outside + "/deep/b.txt", r.dir + "/b.txt"} {
		id := fmt.Sprint(10 + n)
		a.send(callLine(id, "filesystem__write_file", write(path, "")))
		item := r.pending(1)[0]
		if _, _, err := r.queue.Decide(item.ID, item.Digest, false, "tui", ""); err != nil {
			t.Fatal(err)
		}
		a.answerTo(id)
	}
	// A denial of the policy stays one, whatever was granted.
	if m := a.call("20", "filesystem__write_file", write(r.dir+"/closed/x", "")); !m.isError() {
		t.Fatal("a protected path was written")
	}
	shift.Store(int64(time.Minute))
	a.send(callLine("21", "filesystem__write_file", write(r.outside+"/b.txt", "")))
	r.pending(1)
	if len(s.List()) != 0 {
		t.Fatal("an expired grant is listed")
	}
}

// What a structural rule escalates is never remembered, nor let through by
// what was.
func TestNothingStructuralIsGranted(t *testing.T) {
	r, s := grantHarness(t, nil)
	a := r.agent()
	a.send(callLine("1", "filesystem__write_file", write(r.outside+"/a.txt", "")))
	r.remember(s, grant.Directory, time.Minute)
	a.answerTo("1")
	a.send(callLine("2", "filesystem__write_file", write(r.work+"/.git/hooks/pre-commit", "")))
	item := r.pending(1)[0]
	if len(item.Offers) != 0 {
		t.Fatalf("%s is offered %+v", item.Rule, item.Offers)
	}
}

// A flood of calls that are similar is refused after a while, and counted
// where the person sees it; other calls still ask.
func TestAlikeCallsAreCollapsed(t *testing.T) {
	r := newHarness(t, func(c *Config) { c.Limits.Alike = 3 })
	a := r.agent()
	for n := range 10 {
		a.send(callLine(fmt.Sprint(100+n), "filesystem__write_file", write(fmt.Sprintf("%s/%d.txt", r.outside, n), "")))
	}
	for range 7 {
		if m := a.receive(); !m.isError() || !strings.Contains(m.text(), "and 3 for similar ones") {
			t.Fatal(m.text())
		}
	}
	items := r.pending(3)
	more := 0
	for _, item := range items {
		more += item.More
	}
	if more != 7 {
		t.Fatalf("%d of 7 refused calls are counted on the waiting ones", more)
	}
	a.send(callLine("200", "filesystem__read_text_file", fmt.Sprintf(`{"path":%q}`, r.outside+"/1.txt")))
	r.pending(4)
	if n := len(r.forwarded()); n != 0 {
		t.Fatalf("%d calls were forwarded", n)
	}
}

// A call that waited when the rule was made is recorded like one that came
// after it.
func TestAWaitingCallIsRecordedAsGranted(t *testing.T) {
	r, s := grantHarness(t, nil)
	a := r.agent()
	a.send(callLine("1", "filesystem__write_file", write(r.outside+"/a.txt", "")))
	r.pending(1)
	a.send(callLine("2", "filesystem__write_file", write(r.outside+"/b.txt", "")))
	items := r.pending(2)
	g, err := s.Add("s1", items[0].Offers[len(items[0].Offers)-1], "tui", identity.Client{}, items[0].ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	used, err := s.Use(g.Number, items[1].Call)
	if err != nil {
		t.Fatal(err)
	}
	answer := approval.Answer{Approve: true, By: "tui", Grant: g.Number, Evidence: used.Evidence()}
	if _, won, err := r.queue.Answer(items[1].ID, items[1].Digest, answer); !won || err != nil {
		t.Fatal(won, err)
	}
	if m := a.answerTo("2"); m.isError() {
		t.Fatal(m.text())
	}
	if d := r.decisions(); len(d) != 1 || d[0].Decision != audit.Granted || d[0].DecidedBy != "tui" || d[0].Detail["grant"] != float64(g.Number) || d[0].Detail["use"] != 1.0 {
		t.Fatalf("%+v", d)
	}
}

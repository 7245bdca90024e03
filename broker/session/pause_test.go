package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// askingSession makes a session that has only a queue and an audit.
func askingSession(t *testing.T) (*Session, *audit.Log, string) {
	t.Helper()
	d := testDeps(t, Config{Home: t.TempDir(), EscalationTimeout: time.Minute})
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, audit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	return &Session{deps: d, fixed: stored.Session{ID: "s1", Tab: 1}, layout: stored.Layout{Dir: t.TempDir()}}, log, path
}

// waiting waits until an item waits for a person, and returns it.
func waiting(t *testing.T, s *Session) approval.Escalation {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-tick.C {
		if items := s.deps.Approvals.Pending(); len(items) == 1 {
			return items[0]
		}
	}
	t.Fatal("nothing waits for a person")
	return approval.Escalation{}
}

// settled waits until the decision about a pause has taken effect.
func settled(t *testing.T, p *pause) {
	t.Helper()
	p.mu.Lock()
	asking := p.asking
	p.mu.Unlock()
	if asking != nil {
		<-asking
	}
}

func decideOn(t *testing.T, s *Session, e approval.Escalation, approve bool) {
	t.Helper()
	if _, _, err := s.deps.Approvals.Answer(e.ID, e.Digest, approval.Answer{Effect: e.Fingerprint(), Approve: approve, By: "cli", Reason: "because"}); err != nil {
		t.Fatal(err)
	}
}

func TestALeakPausesTheSession(t *testing.T) {
	s, log, path := askingSession(t)
	stack := &teardown{limit: time.Minute}
	p := newPause(t.Context(), s, stack, log)
	request := mitm.Request{Host: "api.x.com", Path: "/v1/x"}
	if err := p.admit(t.Context(), request); err != nil {
		t.Fatalf("a session without a leak: %v", err)
	}
	p.begin(mitm.Activity{Kind: mitm.KeyLeaked, Host: "api.x.com", Path: "/v1/x"})
	item := waiting(t, s) // the question waits before any request
	if item.Plane != "http" || item.Rule != ruleLeak || item.Server != "api.x.com" || item.Digest == "" {
		t.Errorf("item %+v", item)
	}
	decideOn(t, s, item, false)
	// Without an approval it stays paused, and the next request asks again.
	results := make(chan error, 3)
	ask := func() { results <- p.admit(context.Background(), request) }
	settled(t, p)
	go ask()
	decideOn(t, s, waiting(t, s), false)
	if err := <-results; !errors.Is(err, errPaused) {
		t.Errorf("after a refusal: %v", err)
	}
	settled(t, p)
	// It also stays paused when another multiplexer takes the agent back.
	if !newPause(t.Context(), s, stack, log).paused {
		t.Error("a session that is taken back is not paused any more")
	}
	for range 3 {
		go ask()
	}
	item = waiting(t, s)
	decideOn(t, s, item, true)
	for range 3 {
		if err := <-results; err != nil {
			t.Errorf("after the approval: %v", err)
		}
	}
	if err := p.admit(t.Context(), request); err != nil {
		t.Errorf("after the approval: %v", err)
	}
	if newPause(t.Context(), s, stack, log).paused {
		t.Error("a session that goes on is paused once it is taken back")
	}
	if err := stack.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var decisions []string
	if err := audit.Read(path, func(l audit.Line) error {
		if l.Rule == ruleLeak {
			decisions = append(decisions, string(l.Decision)+" "+l.DecidedBy)
		}
		return nil
	}); err != nil || strings.Join(decisions, ",") != "escalated-denied cli,escalated-denied cli,escalated-approved cli" {
		t.Errorf("decisions %q, %v", decisions, err)
	}
}

func TestAPausedSessionEnds(t *testing.T) {
	s, log, _ := askingSession(t)
	stack := &teardown{limit: time.Minute}
	p := newPause(t.Context(), s, stack, log)
	p.begin(mitm.Activity{Host: "h"})
	waiting(t, s)
	done := make(chan error, 1)
	go func() { done <- p.admit(context.Background(), mitm.Request{Host: "h"}) }()
	if err := stack.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, errPaused) {
		t.Errorf("a request of a session that ended: %v", err)
	}
	if items := s.deps.Approvals.Pending(); len(items) != 0 {
		t.Errorf("still waiting: %+v", items)
	}
}

func TestRequestsAreAskedAbout(t *testing.T) {
	s, _, _ := askingSession(t)
	request := mitm.Request{
		Host: "api.x.com", Method: "POST", Path: "/v1/x", Query: "beta=true", Model: "m",
		Body: []byte(`{"model":"m","n":1e400}`), Digest: "d",
	}
	for _, approve := range []bool{true, false} {
		type answer struct {
			mitm.Ruling
			err error
		}
		done := make(chan answer, 1)
		go func() {
			r, err := s.askRequest(context.Background(), request)
			done <- answer{r, err}
		}()
		item := waiting(t, s)
		want := `{"method":"POST","url":"https://api.x.com/v1/x","query":"beta=true","model":"m","body":{"model":"m","n":1e400}}`
		if item.Plane != "http" || item.Digest != "d" || string(item.Arguments) != want || item.Tool != "POST /v1/x" {
			t.Errorf("item %+v with %s", item, item.Arguments)
		}
		decideOn(t, s, item, approve)
		got := <-done
		if got.err != nil || got.Approved != approve || got.By != "cli" || got.ID != item.ID || !approve && got.Reason != "because" {
			t.Errorf("ruling %+v", got)
		}
	}
	// When the caller goes away, the question ends.
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan mitm.Ruling, 1)
	go func() { r, _ := s.askRequest(ctx, request); done <- r }()
	waiting(t, s)
	cancel()
	if got := <-done; got.Approved || got.Outcome != "withdrawn" {
		t.Errorf("ruling %+v", got)
	}
}

func TestLongBodiesAreShownInPart(t *testing.T) {
	body := `{"a":"` + strings.Repeat("ä", wholeBody) + `"}`
	text, err := shownRequest{}.with([]byte(body), wholeBody)
	if err != nil {
		t.Fatal(err)
	}
	var shown map[string]any
	if err := json.Unmarshal(text, &shown); err != nil {
		t.Fatal(err)
	}
	if shown["body"] != nil || fmt.Sprint(shown["bodyBytes"]) != fmt.Sprint(float64(len(body))) || len(text) > 4*partBody ||
		!strings.HasPrefix(fmt.Sprint(shown["bodyBegins"]), `{"a":"`) || !strings.HasSuffix(fmt.Sprint(shown["bodyEnds"]), `"}`) {
		t.Errorf("shown as %.300s", text)
	}
}

// When an upstream sends the key back, the agent gets its sentinel instead, the session is
// paused and the person is told. After their approval the session goes on.
func TestLeakThroughTheProxy(t *testing.T) {
	const key = "sk-ant-api03-the-real-key-0123456789"
	s, log, path := askingSession(t)
	p, client := modelProxy(t, s, log, key, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Header.Get("X-Api-Key"))
	})
	ask := func() (int, string) {
		req, err := http.NewRequest(http.MethodPost, "https://api.anthropic.com/v1/messages", strings.NewReader(`{"model":"m"}`))
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		req.Header.Set("X-Api-Key", p.sentinels["anthropic"])
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(body)
	}
	if status, body := ask(); status != 200 || body != p.sentinels["anthropic"] {
		t.Fatalf("%d %s", status, body)
	}
	item := waiting(t, s)
	for told := false; !told; {
		e := <-eventsOf(s).notices
		told = e.Urgent && strings.Contains(e.Text, "paused")
	}
	done := make(chan int, 1)
	go func() {
		status, _ := ask()
		done <- status
	}()
	decideOn(t, s, item, true)
	if status := <-done; status != 200 {
		t.Errorf("after the approval: %d", status)
	}
	var order []string
	if err := audit.Read(path, func(l audit.Line) error {
		if l.Rule == ruleLeak || l.Reason == string(mitm.ReasonAllowed) || l.Reason == string(mitm.ReasonLeak) {
			order = append(order, string(l.Decision))
		}
		return nil
	}); err != nil || !strings.HasPrefix(strings.Join(order, " "), "allow deny escalated-approved allow") {
		t.Errorf("the audit says %q, %v", order, err)
	}
}

// slowDisk blocks the next sync of an audit log, once it is armed, until the test releases
// it.
type slowDisk struct {
	armed         *atomic.Bool
	syncing, goOn chan struct{}
}

type slowFile struct {
	*os.File
	disk slowDisk
}

func (d slowDisk) Open(path string, as audit.Role) (audit.File, error) {
	flags := os.O_RDWR | os.O_CREATE
	if as == audit.Records {
		flags |= os.O_APPEND
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil || as != audit.Records {
		return f, err
	}
	return slowFile{f, d}, nil
}

func (d slowDisk) Lstat(path string) (os.FileInfo, error) { return os.Lstat(path) }

func (d slowDisk) WriteNew(path string, data []byte) error { return os.WriteFile(path, data, 0o600) }

func (f slowFile) Sync() error {
	if f.disk.armed.CompareAndSwap(true, false) {
		f.disk.syncing <- struct{}{}
		<-f.disk.goOn
	}
	return f.File.Sync()
}

// An approval counts only for the leaks that happened before it.
func TestALeakAfterTheApprovalPausesAgain(t *testing.T) {
	s, _, _ := askingSession(t)
	disk := slowDisk{new(atomic.Bool), make(chan struct{}), make(chan struct{})}
	log, err := audit.Open(filepath.Join(t.TempDir(), "audit.jsonl"), audit.Options{FS: disk})
	if err != nil {
		t.Fatal(err)
	}
	stack := &teardown{limit: time.Minute}
	stack.push("close the audit", func(context.Context) error { return log.Close() })
	p := newPause(t.Context(), s, stack, log)
	leak := mitm.Activity{Kind: mitm.KeyLeaked, Host: "api.x.com", Path: "/v1/x"}
	p.begin(leak)
	first := waiting(t, s)
	disk.armed.Store(true)
	decideOn(t, s, first, true)
	<-disk.syncing // the approval is being recorded
	p.begin(leak)
	close(disk.goOn)
	second := waiting(t, s)
	if second.ID == first.ID {
		t.Error("the first question stands still")
	}
	p.mu.Lock()
	paused := p.paused
	p.mu.Unlock()
	if _, err := os.Lstat(s.layout.Paused()); err != nil || !paused {
		t.Errorf("after a second leak: paused %v, %v", paused, err)
	}
	decideOn(t, s, second, true)
	settled(t, p)
	if err := p.admit(t.Context(), mitm.Request{}); err != nil {
		t.Errorf("after its approval: %v", err)
	}
	if err := stack.run(t.Context()); err != nil {
		t.Error(err)
	}
}

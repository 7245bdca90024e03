package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/autoapprove"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	models "github.com/ironcurtain-mux/ironcurtain-mux/broker/llm/provider"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// automatic is a desk whose broker approves ordered calls automatically.
func automatic(t *testing.T, auto AutoApprove) *desk {
	t.Helper()
	d := newDesk(t)
	d.broker.config.AutoApprove = &auto
	return d
}

// order types into command mode.
func (d *desk) order(text string, pasted bool) {
	d.t.Helper()
	_, err := d.broker.Submit(d.t.Context(), TrustedInput{
		Session: d.session.ID(), Text: text, Spans: []Span{{0, len(text), pasted}},
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// read lets the agent ask for a file and returns how that ends.
func (d *desk) read(path string) <-chan approval.Resolution {
	d.t.Helper()
	v := d.engine().Evaluate(policy.Call{Server: "filesystem", Tool: "read_text_file", Arguments: fmt.Appendf(nil, `{"path":%q}`, path)})
	if v.Decision != policy.Escalate {
		d.t.Fatalf("%s by %s", v.Decision, v.Rule)
	}
	settled := make(chan approval.Resolution, 1)
	go func() {
		e := approval.Escalation{
			Session: d.session.ID(), Plane: "tool", Server: "filesystem", Tool: "read_text_file",
			Arguments: v.Arguments, Rule: v.Rule, Reason: v.Reason, Digest: v.Digest,
			Offers: grant.Offers(grant.CallOf(d.session.ID(), "filesystem", "read_text_file", v)),
		}
		r, ordered := d.session.Ordered(&e)
		var err error
		if !ordered {
			r, err = d.broker.approvals.Ask(d.t.Context(), e)
		}
		if err != nil {
			d.t.Error(err)
		}
		settled <- r
	}()
	return settled
}

// asksPerson waits until a call waits for the person and the automatic approval has
// judged it, denies it, and returns the newest line of the automatic approval's log.
func (d *desk) asksPerson(settled <-chan approval.Resolution, entries int) autoapprove.Entry {
	d.t.Helper()
	all := d.entries(entries)
	waitFor(d.t, func() bool { return len(d.broker.approvals.Pending()) > 0 || len(settled) > 0 })
	select {
	case r := <-settled:
		d.t.Fatalf("it did not wait: %+v", r)
	default:
	}
	for _, item := range d.broker.approvals.Pending() {
		if _, _, err := d.broker.approvals.Decide(item.ID, item.Digest, false, "tui", ""); err != nil {
			d.t.Fatal(err)
		}
	}
	if r := <-settled; r.Outcome != approval.Denied || r.Automatic {
		d.t.Fatalf("%+v", r)
	}
	return all[len(all)-1]
}

// entries waits until the automatic approval's log has n lines.
func (d *desk) entries(n int) []autoapprove.Entry {
	d.t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		var all []autoapprove.Entry
		data, _ := os.ReadFile(d.session.Files().AutoApprovals()) // it comes with the first entry
		for line := range strings.Lines(string(data)) {
			var e autoapprove.Entry
			if json.Unmarshal([]byte(line), &e) == nil {
				all = append(all, e)
			}
		}
		if len(all) >= n {
			return all
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			d.t.Fatalf("the approval's log has %d entries, not %d", len(all), n)
		}
	}
}

// One order lets one call through, with everything recorded; the next one asks.
func TestAnOrderLetsOneCallThrough(t *testing.T) {
	d := automatic(t, AutoApprove{})
	events, err := d.broker.Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(d.outside, "notes.txt")
	d.order("read "+notes, false)
	r := <-d.read(notes)
	if r.Outcome != approval.Approved || !r.Automatic || r.By != "auto-approver" || r.Evidence["quote"] != "read "+notes || r.Evidence["receipt"] != 1 {
		t.Fatalf("%+v", r)
	}
	told := false
	for !told {
		e := <-events
		if e.Kind == EventEscalation {
			t.Error("a person was asked")
		}
		if told = e.AutoApproval != nil; told && (e.AutoApproval.Receipt != 1 || e.AutoApproval.Call.ID != r.ID) {
			t.Errorf("%+v", e.AutoApproval)
		}
	}
	kept, err := d.broker.AutoApprovals(t.Context(), d.session.ID())
	if err != nil || len(kept) != 1 || kept[0].Call.ID != r.ID {
		t.Errorf("%+v, %v", kept, err)
	}
	if e := d.entries(1)[0]; e.Outcome != autoapprove.OutcomeApproved || e.Escalation != r.ID || e.Digest != r.Digest {
		t.Errorf("%+v", e)
	}
	again := d.read(notes)
	waitFor(t, func() bool { return len(d.broker.approvals.Pending()) == 1 })
	d.broker.approvals.Withdraw(string(d.session.ID()), "the test is over")
	if r := <-again; r.Outcome != approval.Withdrawn {
		t.Errorf("%+v", r)
	}
}

func waitFor(t testing.TB, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("it does not come about")
		}
	}
}

// Of many calls at once, one order lets exactly one through.
func TestOneOrderManyCalls(t *testing.T) {
	d := automatic(t, AutoApprove{})
	notes := filepath.Join(d.outside, "notes.txt")
	d.order("read "+notes, false)
	var through atomic.Int32
	var group sync.WaitGroup
	for range 10 {
		settled := d.read(notes)
		group.Go(func() {
			if r := <-settled; r.Outcome == approval.Approved {
				through.Add(1)
			}
		})
	}
	waitFor(t, func() bool { return len(d.broker.approvals.Pending()) == 9 && through.Load() == 1 })
	d.broker.approvals.Withdraw(string(d.session.ID()), "the test is over")
	group.Wait()
	if n := through.Load(); n != 1 {
		t.Errorf("%d went through", n)
	}
}

// Text that does not order this call leaves it to the person, and the log says why.
func TestWhatIsNoOrder(t *testing.T) {
	d := automatic(t, AutoApprove{})
	notes := filepath.Join(d.outside, "notes.txt")
	n := 0
	for _, c := range []struct {
		text   string
		pasted bool
	}{
		{"read " + notes, true},
		{"go ahead", false},
		{"read " + notes + ".bak", false},
		{"do not read " + notes, false},
	} {
		d.order(c.text, c.pasted)
		settled := d.read(notes)
		if c.pasted {
			// A receipt without any typed word approves nothing.
			waitFor(t, func() bool { return len(d.broker.approvals.Pending()) == 1 })
			d.broker.approvals.Withdraw(string(d.session.ID()), "next")
			<-settled
			continue
		}
		n++
		if e := d.asksPerson(settled, n); e.Outcome != autoapprove.OutcomeAsked || e.Reason == "" || e.Receipt == 0 {
			t.Errorf("%q: %+v", c.text, e)
		}
	}
}

// An approval that cannot be recorded does not count, and still spends the receipt.
func TestUnrecordedIsNotApproved(t *testing.T) {
	d := automatic(t, AutoApprove{})
	if err := os.MkdirAll(d.session.Files().AutoApprovals(), 0o700); err != nil { // in the file's place
		t.Fatal(err)
	}
	notes := filepath.Join(d.outside, "notes.txt")
	d.order("read "+notes, false)
	settled := d.read(notes)
	waitFor(t, func() bool {
		_, held := d.broker.receipts.Current(string(d.session.ID()))
		return len(d.broker.approvals.Pending()) == 1 && !held
	})
	d.broker.approvals.Withdraw(string(d.session.ID()), "the test is over")
	if r := <-settled; r.Outcome != approval.Withdrawn {
		t.Errorf("%+v", r)
	}
}

// provided serves answers in Anthropic's format to the real library.
func provided(t *testing.T, answer http.HandlerFunc) (llm.Model, *atomic.Int32) {
	t.Helper()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // the server notices that a client leaves only after reading the body
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	m, err := models.New(models.Options{Provider: "anthropic", Model: "m", Key: "k", BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m, &asked
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		quoted, _ := json.Marshal(text) // a text always can be
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":%s}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`, quoted)
	}
}

// A call is let through when the model confirms. The log contains the hash of the
// question and the model's answer.
func TestAModelConfirms(t *testing.T) {
	m, asked := provided(t, says(`{"decision":"approve","reason":"it was ordered"}`))
	d := automatic(t, AutoApprove{Confirm: true, Model: m})
	notes := filepath.Join(d.outside, "notes.txt")
	d.order("read "+notes, false)
	r := <-d.read(notes)
	if r.Outcome != approval.Approved || !r.Automatic || r.Evidence["model"] != "anthropic/m" || r.Evidence["prompt"] == "" {
		t.Errorf("%+v", r)
	}
	e := d.entries(1)[0]
	if e.Outcome != autoapprove.OutcomeApproved || len(e.Prompt) != 64 || !strings.Contains(e.Answer, "it was ordered") || asked.Load() != 1 {
		t.Errorf("%+v, asked %d times", e, asked.Load())
	}
}

// A model that reads in place of the grammar approves an order in another language, but
// never a call on what the text does not name: it is not even asked.
func TestAModelReads(t *testing.T) {
	m, asked := provided(t, says(`{"decision":"approve","reason":"it was ordered"}`))
	d := automatic(t, AutoApprove{Reads: true, Confirm: true, Model: m})
	d.order("Lies bitte die Notizen in notes.txt", false)
	d.asksPerson(d.read(filepath.Join(d.outside, "other.txt")), 1)
	if asked.Load() != 0 {
		t.Errorf("the model was asked %d times about what nobody named", asked.Load())
	}
	if r := <-d.read(filepath.Join(d.outside, "notes.txt")); r.Outcome != approval.Approved || !r.Automatic || asked.Load() != 1 {
		t.Errorf("%+v, asked %d times", r, asked.Load())
	}
}

// Any other answer, or an error, leaves the call to the person, who sees it all the
// while. It is recorded, and the model is asked again once at most.
func TestModelsThatDoNotConfirm(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"decision":"approve","reason":"x"}`, code)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		tries  int32
	}{
		"escalates":   {says(`{"decision":"escalate","reason":"vague"}`), 1},
		"prose":       {says("I approve this call."), 1},
		"extra keys":  {says(`{"decision":"approve","reason":"x","note":"y"}`), 1},
		"1 MB":        {says(`{"decision":"approve","reason":"` + strings.Repeat("x", 1<<20) + `"}`), 1},
		"400":         {status(400), 1},
		"401":         {status(401), 1},
		"429":         {status(429), 2},
		"500":         {status(500), 2},
		"empty":       {says(""), 1},
		"not its API": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m, asked := provided(t, c.answer)
			d := automatic(t, AutoApprove{Confirm: true, Model: m})
			notes := filepath.Join(d.outside, "notes.txt")
			d.order("read "+notes, false)
			e := d.asksPerson(d.read(notes), 1)
			if e.Outcome != autoapprove.OutcomeAsked || e.Reason == "" || e.Model == "" || len(e.Prompt) != 64 || asked.Load() != c.tries {
				t.Errorf("%+v, asked %d times", e, asked.Load())
			}
			if _, held := d.broker.receipts.Current(string(d.session.ID())); !held {
				t.Error("the receipt was spent")
			}
		})
	}
}

// Without a key nobody can confirm; the person is asked.
func TestNoKey(t *testing.T) {
	d := automatic(t, AutoApprove{Confirm: true, Missing: llm.ErrNoKey})
	notes := filepath.Join(d.outside, "notes.txt")
	d.order("read "+notes, false)
	if e := d.asksPerson(d.read(notes), 1); !strings.Contains(e.Reason, "no key") {
		t.Errorf("%+v", e)
	}
}

// A person who is faster than the model has decided.
func TestThePersonIsFaster(t *testing.T) {
	release := make(chan struct{})
	m, _ := provided(t, func(w http.ResponseWriter, r *http.Request) {
		<-release
		says(`{"decision":"approve","reason":"x"}`)(w, r)
	})
	d := automatic(t, AutoApprove{Confirm: true, Model: m})
	notes := filepath.Join(d.outside, "notes.txt")
	d.order("read "+notes, false)
	settled := d.read(notes)
	waitFor(t, func() bool { return len(d.broker.approvals.Pending()) == 1 })
	item := d.broker.approvals.Pending()[0]
	if _, won, err := d.broker.approvals.Decide(item.ID, item.Digest, false, "tui", ""); !won || err != nil {
		t.Fatal(won, err)
	}
	close(release)
	if r := <-settled; r.Outcome != approval.Denied || r.Automatic {
		t.Errorf("%+v", r)
	}
	d.entries(1)
	if _, held := d.broker.receipts.Current(string(d.session.ID())); !held {
		t.Error("the receipt was spent")
	}
	if kept, err := d.broker.AutoApprovals(t.Context(), d.session.ID()); err != nil || len(kept) != 0 {
		t.Errorf("%+v %v", kept, err)
	}
}

package packages

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/store"
	rules "github.com/ironcurtain-mux/ironcurtain-mux/policy/packages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a session in front of a forged npm registry, with a real queue and a real audit.
type world struct {
	t     testing.TB
	npm   *forged.NPM
	host  *Host
	queue *approval.Queue
	log   *audit.Log
	way   *Session
	work  string
	dir   string
}

func newWorld(t testing.TB, change func(*Options)) *world {
	t.Helper()
	w := &world{t: t, npm: forged.NewNPM(t), work: t.TempDir(), dir: t.TempDir(), queue: approval.New(approval.Options{})}
	base, _ := url.Parse("https://npm.example/")
	o := Options{
		Cache: filepath.Join(w.dir, "cache"), State: w.dir,
		Origins:  []*registry.Origin{{Ecosystem: "npm", URL: base}},
		Rules:    rules.Rules{Quarantine: map[string]time.Duration{"npm": 72 * time.Hour}},
		NewNames: 200, UnknownNames: 50,
		Upstreams: map[string]*url.URL{"npm.example": w.npm.URL},
		Limits:    registry.Limits{Wave: 20 * time.Millisecond, Fresh: time.Nanosecond, Believed: time.Nanosecond},
	}
	if change != nil {
		change(&o)
	}
	var err error
	if w.host, err = Open(o); err != nil {
		t.Fatal(err)
	}
	if w.log, err = audit.Open(filepath.Join(w.dir, "audit.jsonl"), audit.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if w.way != nil {
			w.way.Close()
		}
		if err := w.host.Close(); err != nil {
			t.Error(err)
		}
		_ = w.log.Close()
	})
	return w
}

func (w *world) open() {
	w.way = w.host.Session(SessionOptions{ID: "s1", Workspace: w.work, Approvals: w.queue, Timeout: time.Minute, Log: w.log})
}

type answer struct {
	status int
	phrase string
	body   bytes.Buffer
}

func (a *answer) Start(status int, phrase string, _ []registry.Field, _ int64) error {
	a.status, a.phrase = status, phrase
	return nil
}
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }

func (w *world) get(path string) *answer {
	w.t.Helper()
	return w.getAt("npm.example", path)
}

func (w *world) getAt(host, path string) *answer {
	w.t.Helper()
	if w.way == nil {
		w.open()
	}
	a := &answer{}
	if err := w.way.Way().Serve(w.t.Context(), &registry.HTTPRequest{Method: "GET", Authority: "https://" + host + ":443", Path: path}, a); err != nil {
		w.t.Errorf("%s: %v", path, err)
	}
	return a
}

// decide answers the next question.
func (w *world) decide(approve bool) <-chan approval.Escalation {
	asked := make(chan approval.Escalation, 1)
	ctx, end := context.WithCancel(w.t.Context())
	_, changes := w.queue.Subscribe(ctx)
	go func() {
		defer end()
		for c := range changes {
			if c.Asked != nil {
				asked <- *c.Asked
				_, _, _ = w.queue.Answer(c.Asked.ID, c.Asked.Digest, approval.Answer{Approve: approve, By: "test", Effect: c.Asked.Fingerprint()})
				return
			}
		}
	}()
	return asked
}

func (w *world) records() string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, "audit.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func old() time.Time   { return time.Now().Add(-1000 * time.Hour) }
func young() time.Time { return time.Now().Add(-5 * time.Hour) }

// A young version that a lockfile pins is asked about, with what is known of it, and goes on
// after the approval.
func TestPinnedYoungVersion(t *testing.T) {
	w := newWorld(t, nil)
	w.npm.Add("left", forged.NPMVersion{Version: "2.0.4", Published: old()})
	w.npm.Add("left", forged.NPMVersion{Version: "2.1.0", Published: young(), Manifest: map[string]any{"scripts": map[string]string{"postinstall": "node setup.js"}}, Files: map[string]string{"setup.js": ""}})
	lock := `{"lockfileVersion":3,"packages":{"":{"dependencies":{"app":"1"}},"node_modules/app":{"dependencies":{"left":"2"}},"node_modules/left":{"version":"2.1.0"}}}`
	if err := os.WriteFile(filepath.Join(w.work, "package-lock.json"), []byte(lock), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := w.decide(true)
	if a := w.get("/left/-/left-2.1.0.tgz"); a.status != 200 {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	e := <-asked
	var shown strings.Builder
	for _, l := range e.Effect.Lines {
		shown.WriteString(string(l.Kind) + ": " + l.Text + "\n")
	}
	for _, want := range []string{
		"item: npm left@2.1.0, published 5 hours ago; 2.0.4 (1 month) is the newest old enough", "needed by: your project > app > left\n", "pinned: in package-lock.json\n",
		"warning: at install: runs postinstall: node setup.js; not so in 2.0.4\n", " bytes; 2.0.4: ", "; 1 new file: setup.js\n", "publisher: unknown", "sha512-",
	} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is missing from\n%s", want, &shown)
		}
	}
	if e.Rule != "quarantine" || e.Server != "npm" || !strings.Contains(string(e.Arguments), `"version":"2.1.0"`) {
		t.Errorf("%+v", e)
	}
	for _, want := range []string{`"decision":"escalated-approved"`, `"plane":"package"`, `"rule":"quarantine"`, `"name":"left"`} {
		if !strings.Contains(w.records(), want) {
			t.Errorf("%s is missing from\n%s", want, w.records())
		}
	}
}

// The question about a version that the agent asks for has what the agent says about it.
func TestRequestedVersion(t *testing.T) {
	w := newWorld(t, nil)
	w.npm.Add("left", forged.NPMVersion{Version: "2.0.4", Published: old()})
	w.npm.Add("left", forged.NPMVersion{Version: "2.1.0", Published: young()})
	w.open()
	asked := w.decide(true)
	if d, err := w.way.Way().Request(t.Context(), "npm", "left", "2.1.0", "2.0.4 lacks\nthe fix"); err != nil || !d.Approved {
		t.Fatalf("%+v, %v", d, err)
	}
	lines := (<-asked).Effect.Lines
	if last := lines[len(lines)-1].Text; last != `the agent says: "2.0.4 lacks the fix"` {
		t.Errorf("the last line is %q", last)
	}
}

// What is denied stays denied, until it is released: then the next request is a new question.
func TestDeniedPackage(t *testing.T) {
	w := newWorld(t, nil)
	w.npm.Add("left", forged.NPMVersion{Version: "2.0.4", Published: old()})
	w.npm.Add("left", forged.NPMVersion{Version: "2.1.0", Published: young()})
	asked := w.decide(false)
	if a := w.get("/left/-/left-2.1.0.tgz"); a.status != 403 || !strings.Contains(a.phrase, "left 2.1.0 is younger than 3 days") {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	<-asked
	w.get("/left")
	w.get("/left/-/left-2.0.4.tgz")
	if a := w.get("/left/-/left-2.1.0.tgz"); a.status != 403 {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	o := w.way.Overview()
	want := Overview{
		Registries: []Registry{{Ecosystem: "npm", URL: "https://npm.example/"}}, Delivered: 1, RefusedAll: 2,
		Hidden: []Hidden{{Ecosystem: "npm", Name: "left", Versions: 1}}, Denied: []string{"npm:left@2.1.0"},
	}
	if len(o.Refused) != 2 || o.Refused[0].Package != "left@2.1.0" || !strings.Contains(o.Refused[0].Why, "younger than 3 days") {
		t.Errorf("%+v", o.Refused)
	}
	o.Refused = nil
	if diff := cmp.Diff(want, o); diff != "" {
		t.Error(diff)
	}
	if err := w.way.Release("npm:left@2.0.4"); err == nil {
		t.Error("what was not denied is released")
	}
	if err := w.way.Release("npm:left@2.1.0"); err != nil {
		t.Error(err)
	}
	asked = w.decide(true)
	if a := w.get("/left/-/left-2.1.0.tgz"); a.status != 200 {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	<-asked
	if o := w.way.Overview(); o.Denied != nil || o.Delivered != 2 {
		t.Errorf("%+v", o)
	}
}

// Bytes that differ from those that this machine had before are refused for good.
func TestChangedBytes(t *testing.T) {
	w := newWorld(t, nil)
	w.npm.Add("left", forged.NPMVersion{Version: "1.0.0", Published: old()})
	if a := w.get("/left/-/left-1.0.0.tgz"); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.phrase)
	}
	other := forged.NewNPM(t)
	other.Add("left", forged.NPMVersion{Version: "1.0.0", Published: old(), Files: map[string]string{"evil.js": "1"}})
	*w.host.options.Upstreams["npm.example"] = *other.URL
	if a := w.get("/left/-/left-1.0.0.tgz"); a.status != 403 || !strings.Contains(a.phrase, "differ from those that this machine got") {
		t.Errorf("%d %s", a.status, a.phrase)
	}
}

func TestMaliciousVersion(t *testing.T) {
	osv := t.TempDir()
	for name, text := range map[string]string{
		"a.json": `{"id":"MAL-2030-1","affected":[{"package":{"ecosystem":"npm","name":"evil"}}]}`,
		"b.json": `{"id":"MAL-2030-2","affected":[{"package":{"ecosystem":"npm","name":"left"},"versions":["1.0.1"]}]}`,
		"c.json": `{"id":"GHSA-1","affected":[{"package":{"ecosystem":"npm","name":"left"},"versions":["1.0.0"]}]}`,
	} {
		if err := os.WriteFile(filepath.Join(osv, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t, func(o *Options) {
		o.Malicious = []string{osv}
		o.Rules.List = []rules.Rule{{Then: rules.Allow}} // no rule of the person's passes the list
	})
	w.npm.Add("evil", forged.NPMVersion{Version: "1.0.0", Published: old()})
	w.npm.Add("left", forged.NPMVersion{Version: "1.0.0", Published: old()})
	w.npm.Add("left", forged.NPMVersion{Version: "1.0.1", Published: old()})
	for path, status := range map[string]int{"/evil": 404, "/evil/-/evil-1.0.0.tgz": 403, "/left/-/left-1.0.1.tgz": 403, "/left/-/left-1.0.0.tgz": 200} {
		if a := w.get(path); a.status != status {
			t.Errorf("%s: %d %s", path, a.status, a.phrase)
		}
	}
	again, err := ReadMalicious([]string{osv}, w.host.store)
	if err != nil || again.Find("npm", "left", "1.0.1") != "MAL-2030-2" {
		t.Errorf("%+v, %v", again, err)
	}
	if err := os.WriteFile(filepath.Join(osv, "d.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadMalicious([]string{osv}, kept); err == nil {
		t.Error("a broken report was accepted")
	}
}

// Many names that nobody has registered are asked about once.
func TestUnknownNames(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.UnknownNames = 3 })
	for _, name := range []string{"aa", "ab", "ac", "ad"} {
		if a := w.get("/secret-" + name); a.status != 404 {
			t.Errorf("%d %s", a.status, a.phrase)
		}
	}
	asked := w.decide(false)
	if a := w.get("/secret-ae"); a.status != 403 || !strings.Contains(a.phrase, "names can carry data out") {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	if e := <-asked; e.Rule != "names" {
		t.Errorf("%+v", e)
	}
	if requests, _ := w.npm.Requests(); len(requests) != 4 {
		t.Errorf("the registry was asked for %v", requests)
	}
	asked = w.decide(true)
	if a := w.get("/secret-af"); a.status != 404 {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	<-asked
	if a := w.get("/secret-ag"); a.status != 404 {
		t.Errorf("asked again at once: %d %s", a.status, a.phrase)
	}
}

func TestLookAlike(t *testing.T) {
	w := newWorld(t, nil)
	w.npm.Add("express", forged.NPMVersion{Version: "1.0.0", Published: old()})
	w.npm.Add("expres", forged.NPMVersion{Version: "1.0.0", Published: time.Now().Add(-200 * time.Hour)})
	lock := `{"packages":{"node_modules/express":{"version":"1.0.0"}}}`
	if err := os.WriteFile(filepath.Join(w.work, "package-lock.json"), []byte(lock), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := w.decide(false)
	if a := w.get("/expres/-/expres-1.0.0.tgz"); a.status != 403 || !strings.Contains(a.phrase, "could be mistaken for express") {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	<-asked
}

// A name could be mistaken for that of a package that this machine has installed before.
func TestLookAlikeOfWhatWasInstalled(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Rules.Quarantine["npm"] = 0 })
	w.npm.Add("express", forged.NPMVersion{Version: "1.0.0", Published: old()})
	w.npm.Add("expres", forged.NPMVersion{Version: "1.0.0", Published: young()})
	if a := w.get("/express/-/express-1.0.0.tgz"); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.phrase)
	}
	for range 2 { // that it was asked for before makes it no better
		w.way.Close()
		w.open()
		asked := w.decide(false)
		if a := w.get("/expres/-/expres-1.0.0.tgz"); a.status != 403 || !strings.Contains(a.phrase, "could be mistaken for express") {
			t.Errorf("%d %s", a.status, a.phrase)
		}
		<-asked
	}
	if a := w.get("/express/-/express-1.0.0.tgz"); a.status != 200 {
		t.Errorf("%d %s", a.status, a.phrase)
	}
}

// A registry that tells no times is taken at the time when this machine first saw a version.
func TestLookAlikeWithoutTimes(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Rules.Quarantine["npm"] = 0 })
	w.npm.Add("expres", forged.NPMVersion{Version: "1.0.0"})
	lock := `{"packages":{"node_modules/express":{"version":"1.0.0"}}}`
	if err := os.WriteFile(filepath.Join(w.work, "package-lock.json"), []byte(lock), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := w.decide(false)
	if a := w.get("/expres/-/expres-1.0.0.tgz"); a.status != 403 || !strings.Contains(a.phrase, "could be mistaken for express") {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	<-asked
}

func TestConfusable(t *testing.T) {
	known := map[string]bool{"lodash": true, "left-pad": true, "abc": true, "@types/node": true, "code.example/one/lib/v2": true}
	for name, want := range map[string]string{
		"lodash": "", "lodahs": "lodash", "lodas": "lodash", "lodashs": "lodash", "l0dash": "lodash", "left_pad": "left-pad",
		"leftpad": "left-pad", "abd": "", "underscore": "", "1odash": "lodash",
		"types-node": "@types/node", "@type/node": "@types/node", "@types/nodes": "", "code.example/one/lib/v3": "", "code.example/0ne/lib/v2": "code.example/one/lib/v2",
	} {
		if got := confusable(name, known); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l, err := OpenLedger(path, false)
	if err != nil {
		t.Fatal(err)
	}
	exactly := func(version, file string) bool { return version == "1" && file == "f" }
	first, err := l.FirstSeen("o", "a", "1")
	if err != nil {
		t.Fatal(err)
	}
	if same, err := l.Pin("o", "a", "1", "f", "s", exactly); !same || err != nil {
		t.Errorf("%v, %v", same, err)
	}
	_ = l.Close()
	half, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = half.WriteString(`{"chain":"`)
	_ = half.Close()
	if l, err = OpenLedger(path, false); err != nil {
		t.Fatal(err)
	}
	if again, err := l.FirstSeen("o", "a", "1"); err != nil || !again.Equal(first) {
		t.Errorf("%v, %v", again, err)
	}
	if same, _ := l.Pin("o", "a", "1", "f", "t", exactly); same {
		t.Error("other bytes are the same")
	}
	if _, err := l.FirstSeen("o", "b", "1"); err != nil || !l.Knows("o", "b") || l.Knows("o", "c") {
		t.Error(err)
	}
	_ = l.Close()
	data, _ := os.ReadFile(path)
	if !json.Valid(bytes.SplitN(data, []byte("\n"), 2)[0]) {
		t.Errorf("%s", data)
	}
	if err := os.WriteFile(path, bytes.Replace(data, []byte(`"name":"a"`), []byte(`"name":"x"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLedger(path, false); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("%v", err)
	}
}

// That this machine's tools name other registries is told once: to a session that is open, or to
// the next one.
func TestOtherRegistriesAreTold(t *testing.T) {
	for name, early := range map[string]bool{"while a session is open": true, "before the first session": false} {
		t.Run(name, func(t *testing.T) {
			compared := make(chan struct{})
			w := newWorld(t, func(o *Options) {
				o.Compare = func(context.Context) string { <-compared; return "npm has moved" }
			})
			told := make(chan string, 4)
			open := func() *Session {
				return w.host.Session(SessionOptions{ID: "s1", Workspace: w.work, Approvals: w.queue, Timeout: time.Minute, Log: w.log, Notice: func(text string) { told <- text }})
			}
			if early {
				w.way = open()
			}
			close(compared)
			w.host.comparison.done.Wait()
			if !early {
				w.way = open()
			}
			second := open()
			defer second.Close()
			if got := <-told; got != "npm has moved" || len(told) > 0 {
				t.Errorf("told %q and %d more", got, len(told))
			}
		})
	}
}

package registry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/npm"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const quarantine = 72 * time.Hour

// world is a session in front of a forged npm registry.
type world struct {
	t       *testing.T
	npm     *forged.NPM
	plane   *registry.Plane
	session *registry.Session
	dir     string

	mu      sync.Mutex
	records []registry.Record
	broken  error
	pins    map[string]bool
	asked   [][]registry.Package
	ask     func(ctx context.Context, wave []registry.Package) (registry.Decision, error)
	deny    func(registry.Package) bool
}

func newWorld(t *testing.T, change func(*registry.Config)) *world {
	t.Helper()
	w := &world{t: t, npm: forged.NewNPM(t), dir: t.TempDir(), pins: make(map[string]bool)}
	w.start(change)
	return w
}

func (w *world) start(change func(*registry.Config)) {
	kept, err := store.Open(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	base, _ := url.Parse("https://npm.example/")
	alias, _ := url.Parse("https://yarn.example/")
	c := registry.Config{
		Store: kept, Ecosystems: []registry.Ecosystem{npm.Ecosystem{}},
		Origins:   []*registry.Origin{{Ecosystem: "npm", URL: base, Aliases: []*url.URL{alias}}},
		Upstreams: map[string]*url.URL{"npm.example": w.npm.URL},
		Limits:    registry.Limits{Wave: 50 * time.Millisecond, Fresh: time.Nanosecond, Believed: time.Nanosecond},
	}
	if change != nil {
		change(&c)
	}
	if w.plane, err = registry.New(c); err != nil {
		w.t.Fatal(err)
	}
	w.session = w.plane.NewSession(registry.SessionConfig{
		Judge:  w.judge,
		Ask:    w.question,
		Pinned: func(_, name, version string) bool { return w.pins[name+"@"+version] },
		Record: w.record,
		Note:   func(r registry.Record) { _ = w.record(r) },
	})
	w.t.Cleanup(w.close)
}

func (w *world) close() {
	w.session.Close()
	w.plane.Close()
}

func (w *world) judge(p registry.Package) registry.Verdict {
	if w.deny != nil && w.deny(p) {
		return registry.Verdict{Then: registry.Deny, Reason: registry.ReasonMalicious, Text: "it is malicious"}
	}
	if time.Since(p.Version.Published) < quarantine {
		return registry.Verdict{Then: registry.Wait, Rule: "quarantine", Text: p.Facts.Name + " " + p.Version.Version + " is too young", Hide: true}
	}
	return registry.Verdict{Then: registry.Allow}
}

func (w *world) question(ctx context.Context, wave []registry.Package) (registry.Decision, error) {
	w.mu.Lock()
	w.asked = append(w.asked, wave)
	ask := w.ask
	w.mu.Unlock()
	if ask == nil {
		return registry.Decision{Outcome: "denied"}, nil
	}
	return ask(ctx, wave)
}

func (w *world) record(r registry.Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = append(w.records, r)
	return w.broken
}

// answer is what an agent got.
type answer struct {
	status int
	phrase string
	fields map[string]string
	body   bytes.Buffer
}

func (a *answer) Start(status int, phrase string, fields []registry.Field, _ int64) error {
	a.status, a.phrase, a.fields = status, phrase, make(map[string]string)
	for _, f := range fields {
		a.fields[f.Name] = f.Value
	}
	return nil
}

func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }

func (w *world) get(path string, change ...func(*registry.HTTPRequest)) *answer {
	w.t.Helper()
	r := &registry.HTTPRequest{Method: "GET", Authority: "https://npm.example:443", Path: path}
	for _, f := range change {
		f(r)
	}
	a := &answer{}
	if err := w.session.Serve(w.t.Context(), r, a); err != nil {
		w.t.Errorf("%s: %v", path, err)
	}
	return a
}

func old() time.Time   { return time.Now().Add(-1000 * time.Hour) }
func young() time.Time { return time.Now().Add(-5 * time.Hour) }

func (w *world) addLeft() {
	w.npm.Add("left", forged.NPMVersion{Version: "2.0.4", Published: old()})
	w.npm.Add("left", forged.NPMVersion{Version: "2.1.0", Published: young()})
}

func TestYoungVersionsAreHidden(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	for _, form := range []string{"application/json", "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*"} {
		a := w.get("/left", func(r *registry.HTTPRequest) { r.Accept = form })
		if a.status != 200 || strings.Contains(a.body.String(), "2.1.0") || !strings.Contains(a.body.String(), `"latest":"2.0.4"`) {
			t.Errorf("%s: %d %s", form, a.status, &a.body)
		}
		if a.fields["Cache-Control"] != "no-store" || !strings.Contains(a.fields["npm-notice"], "hide 1 version of left;") {
			t.Errorf("%v", a.fields)
		}
	}
	for path, status := range map[string]int{"/left/2.1.0": 404, "/left/2.0.4": 200, "/left/latest": 200, "/-/package/left/dist-tags": 200, "/right": 404} {
		if a := w.get(path); a.status != status || strings.Contains(a.body.String(), `"version":"2.1.0"`) {
			t.Errorf("%s: %d %s", path, a.status, &a.body)
		}
	}
	if a := w.get("/left/-/left-2.0.4.tgz"); a.status != 200 || a.body.Len() == 0 {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	if len(w.asked) != 0 {
		t.Error("somebody was asked")
	}
}

func TestPinnedVersionWaits(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	w.npm.Add("right", forged.NPMVersion{Version: "1.0.0", Published: young()})
	w.pins["left@2.1.0"], w.pins["right@1.0.0"] = true, true
	approve := make(chan bool)
	w.ask = func(context.Context, []registry.Package) (registry.Decision, error) {
		return registry.Decision{Approved: <-approve, Outcome: "approved"}, nil
	}
	if a := w.get("/left"); !strings.Contains(a.body.String(), "2.1.0") {
		t.Errorf("a pinned version is hidden: %s", &a.body)
	}
	answers := make([]*answer, 2)
	var both sync.WaitGroup
	for i, path := range []string{"/left/-/left-2.1.0.tgz", "/right/-/right-1.0.0.tgz"} {
		both.Go(func() { answers[i] = w.get(path) })
	}
	approve <- true
	both.Wait()
	if answers[0].status != 200 || answers[1].status != 200 {
		t.Errorf("%+v %+v", answers[0], answers[1])
	}
	if len(w.asked) != 1 || len(w.asked[0]) != 2 || w.asked[0][0].Sum == "" || w.asked[0][0].Inspection == nil {
		t.Fatalf("%+v", w.asked)
	}
	if a := w.get("/left/-/left-2.1.0.tgz"); a.status != 200 || len(w.asked) != 1 {
		t.Errorf("%d, asked %d times", a.status, len(w.asked))
	}
	if a := w.get("/right"); !strings.Contains(a.body.String(), "1.0.0") {
		t.Errorf("an approved version is hidden: %s", &a.body)
	}
}

// A client that gives up and tries again finds its question, and the answer that came in the
// meantime.
func TestQuestionOutlivesItsRequest(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	asked, decide := make(chan struct{}), make(chan registry.Decision)
	w.ask = func(context.Context, []registry.Package) (registry.Decision, error) {
		close(asked)
		return <-decide, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	request := &registry.HTTPRequest{Method: "GET", Authority: "https://npm.example:443", Path: "/left/-/left-2.1.0.tgz"}
	go func() { gone <- w.session.Serve(ctx, request, &answer{}) }()
	<-asked
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	decide <- registry.Decision{Outcome: "denied", Reason: "not today"}
	if a := w.get("/left/-/left-2.1.0.tgz"); a.status != 403 || !strings.Contains(a.phrase, "not today") || !strings.Contains(a.body.String(), `{"error":"left 2.1.0 is too young; it was not approved (denied): not today"`) {
		t.Errorf("%d %s %s", a.status, a.phrase, &a.body)
	}
}

func TestNobodyWaitsForAnAnswer(t *testing.T) {
	w := newWorld(t, func(c *registry.Config) { c.Limits.Patience = time.Millisecond })
	w.addLeft()
	asked, ended := make(chan struct{}), make(chan struct{})
	w.ask = func(ctx context.Context, _ []registry.Package) (registry.Decision, error) {
		close(asked)
		<-ctx.Done()
		close(ended)
		return registry.Decision{Outcome: "withdrawn"}, nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	request := &registry.HTTPRequest{Method: "GET", Authority: "https://npm.example:443", Path: "/left/-/left-2.1.0.tgz"}
	go func() { gone <- w.session.Serve(ctx, request, &answer{}) }()
	<-asked
	cancel()
	<-gone
	<-ended
}

func TestWhatIsRefused(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	w.npm.Add("@acme/secret", forged.NPMVersion{Version: "1.0.0", Published: old()})
	for name, test := range map[string]struct {
		method, path, query string
		status              int
	}{
		"publishing":         {"PUT", "/left", "", 403},
		"unpublishing":       {"DELETE", "/left/-rev/1", "", 403},
		"logging in":         {"PUT", "/-/user/org.couchdb.user:me", "", 403},
		"who am I":           {"GET", "/-/whoami", "", 404},
		"logging in, web":    {"POST", "/-/v1/login", "", 403},
		"waiting for that":   {"GET", "/-/v1/done", "", 404},
		"a login's document": {"GET", "/-/user/org.couchdb.user:me", "", 404},
		"tokens":             {"GET", "/-/npm/v1/tokens", "", 404},
		"a new token":        {"POST", "/-/npm/v1/tokens", "", 403},
		"a tag":              {"PUT", "/-/package/left/dist-tags/latest", "", 403},
		"reading one tag":    {"GET", "/-/package/left/dist-tags/latest", "", 404},
		"stars":              {"GET", "/-/_view/starredByUser", "", 404},
		"hooks":              {"POST", "/-/npm/v1/hooks/hook", "", 403},
		"everything":         {"GET", "/-/all", "", 404},
		"a quick audit":      {"POST", "/-/npm/v1/security/audits/quick", "", 403},
		"an audit elsewhere": {"POST", "/left/-/npm/v1/security/advisories/bulk", "", 403},
		"an audit's query":   {"POST", "/-/npm/v1/security/advisories/bulk", "x=secret", 403},
		"reading an audit":   {"GET", "/-/npm/v1/security/advisories/bulk", "", 404},
		"a copy":             {"COPY", "/left", "", 403},
		"options":            {"OPTIONS", "/left", "", 403},
		"small letters":      {"get", "/left", "", 403},
		"no method":          {"", "/left", "", 403},
		"a revision":         {"GET", "/left/-rev/1", "", 404},
		"an attachment":      {"GET", "/left/-/left-2.0.4.tgz/-rev/1", "", 403},
		"search":             {"GET", "/-/v1/search", "text=left", 403},
		"a query":            {"GET", "/left", "write=true", 403},
		"an old audit":       {"POST", "/-/npm/v1/security/audits", "", 403},
		"a dot segment":      {"GET", "/left/-/../left-2.0.4.tgz", "", 404},
		"an escaped letter":  {"GET", "/%6ceft", "", 404},
		"a second spelling":  {"GET", "//left", "", 404},
		"what is not listed": {"GET", "/left/-/left-9.9.9.tgz", "", 403},
		"another's tarball":  {"GET", "/left/-/right-1.0.0.tgz", "", 403},
	} {
		t.Run(name, func(t *testing.T) {
			before, _ := w.npm.Requests()
			a := w.get(test.path, func(r *registry.HTTPRequest) { r.Method, r.Query = test.method, test.query })
			if a.status != test.status || a.fields["X-Ironcurtain-Denied"] == "" {
				t.Errorf("%d %s", a.status, a.phrase)
			}
			after, _ := w.npm.Requests()
			for _, r := range after[len(before):] {
				if r != "GET /left" {
					t.Errorf("the registry was asked for %s", r)
				}
			}
		})
	}
	if a := w.get("/left", func(r *registry.HTTPRequest) { r.Authority = "https://other.example:443" }); a.status != 403 {
		t.Errorf("another host: %d", a.status)
	}
	last := w.records[len(w.records)-1]
	if last.Decision != "deny" || last.Reason != registry.ReasonPath {
		t.Errorf("%+v", last)
	}
}

func TestWrongBytes(t *testing.T) {
	tests := map[string]func(path string, body []byte) []byte{
		"another tarball": func(path string, body []byte) []byte {
			if strings.HasSuffix(path, ".tgz") {
				return forged.Tarball(map[string]string{"package.json": `{"name":"left","version":"2.0.4","evil":1}`})
			}
			return body
		},
		"a shorter tarball": func(path string, body []byte) []byte {
			if strings.HasSuffix(path, ".tgz") {
				return body[:len(body)/2]
			}
			return body
		},
		"a repeated member": func(_ string, body []byte) []byte {
			return bytes.Replace(body, []byte(`{`), []byte(`{"versions":{},`), 1)
		},
		"another name": func(_ string, body []byte) []byte {
			return bytes.ReplaceAll(body, []byte(`"name":"left"`), []byte(`"name":"lefty"`))
		},
		"another host": func(_ string, body []byte) []byte {
			return bytes.ReplaceAll(body, []byte(`https://npm.example/`), []byte(`https://evil.example/`))
		},
		"no digests": func(_ string, body []byte) []byte {
			return bytes.ReplaceAll(bytes.ReplaceAll(body, []byte(`"integrity"`), []byte(`"x"`)), []byte(`"shasum"`), []byte(`"y"`))
		},
		"no JSON": func(string, []byte) []byte { return []byte("<html>") },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.addLeft()
			w.npm.Change(change)
			if a := w.get("/left/-/left-2.0.4.tgz"); a.status == 200 {
				t.Errorf("it was released: %d", a.body.Len())
			}
		})
	}
}

// The manifest in the tarball decides what runs at install, whatever the document says.
func TestManifestIsHeldAgainstTheDocument(t *testing.T) {
	w := newWorld(t, nil)
	w.npm.Add("left", forged.NPMVersion{Version: "1.0.0", Published: old(), Files: map[string]string{"package.json": `{"name":"right","version":"1.0.0"}`}})
	if a := w.get("/left/-/left-1.0.0.tgz"); a.status != 403 || !strings.Contains(a.phrase, "another package") {
		t.Errorf("%d %s", a.status, a.phrase)
	}
}

// An agent asks for a version that is hidden; after the approval documents show it.
func TestRequest(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	w.ask = func(context.Context, []registry.Package) (registry.Decision, error) {
		return registry.Decision{Approved: true, Outcome: "approved"}, nil
	}
	if d, err := w.session.Request(t.Context(), "npm", "left", "2.1.0", "a fix"); err != nil || !d.Approved {
		t.Fatalf("%+v, %v", d, err)
	}
	if a := w.get("/left"); !strings.Contains(a.body.String(), "2.1.0") {
		t.Errorf("%s", &a.body)
	}
	if a := w.get("/left/-/left-2.1.0.tgz"); a.status != 200 || len(w.asked) != 1 {
		t.Errorf("%d, asked %d times", a.status, len(w.asked))
	}
	for _, bad := range [][3]string{{"npm", "left", "9.9.9"}, {"npm", "../x", "1"}, {"pip", "left", "1"}} {
		if _, err := w.session.Request(t.Context(), bad[0], bad[1], bad[2], ""); err == nil || bad[0] != "npm" && !strings.HasSuffix(err.Error(), "it is none of npm") {
			t.Errorf("%v was answered with %v", bad, err)
		}
	}
	if d, err := w.session.Request(t.Context(), "npm", "left", "2.0.4", ""); err != nil || !d.Approved || len(w.asked) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestDeniedVersion(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	w.deny = func(p registry.Package) bool { return p.Version.Version == "2.0.4" }
	if a := w.get("/left/-/left-2.0.4.tgz"); a.status != 403 || a.phrase != "it is malicious" {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	if a := w.get("/left"); a.status != 404 {
		t.Errorf("%d %s", a.status, &a.body)
	}
}

// Without a record nothing leaves the host, and nothing is released.
func TestNothingWithoutARecord(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	w.broken = errors.New("the disk is full")
	if a := w.get("/left"); a.status != 503 {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	if asked, _ := w.npm.Requests(); len(asked) != 0 {
		t.Errorf("the registry was asked: %v", asked)
	}
}

func TestStoreAndOffline(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	first := w.get("/left/-/left-2.0.4.tgz")
	w.close()
	w.npm.Change(func(string, []byte) []byte { return nil })
	nowhere, _ := url.Parse("http://127.0.0.1:1")
	w.start(func(c *registry.Config) { c.Upstreams["npm.example"] = nowhere })
	if a := w.get("/left/-/left-2.0.4.tgz"); a.status != 200 || !bytes.Equal(a.body.Bytes(), first.body.Bytes()) {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	if a := w.get("/left"); a.status != 200 {
		t.Errorf("a stored document: %d %s", a.status, a.phrase)
	}
	if a := w.get("/other"); a.status != 502 {
		t.Errorf("%d %s", a.status, a.phrase)
	}
}

func TestAuditAndOfflineCanBeRefused(t *testing.T) {
	w := newWorld(t, func(c *registry.Config) { c.NoAudit, c.NoOffline = true, true })
	w.addLeft()
	w.get("/left")
	if a := w.get("/-/npm/v1/security/advisories/bulk", func(r *registry.HTTPRequest) { r.Method, r.Body = "POST", []byte("{}") }); a.status != 403 {
		t.Errorf("an audit: %d %s", a.status, a.phrase)
	}
	w.close()
	nowhere, _ := url.Parse("http://127.0.0.1:1")
	w.start(func(c *registry.Config) { c.NoOffline, c.Upstreams["npm.example"] = true, nowhere })
	if a := w.get("/left"); a.status != 502 {
		t.Errorf("offline: %d %s", a.status, a.phrase)
	}
}

func TestRangesAndTags(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	whole := w.get("/left/-/left-2.0.4.tgz")
	size := whole.body.Len()
	for spec, want := range map[string]string{
		"bytes=0-3":    fmt.Sprintf("206 bytes 0-3/%d 4", size),
		"bytes=5-":     fmt.Sprintf("206 bytes 5-%d/%d %d", size-1, size, size-5),
		"bytes=-7":     fmt.Sprintf("206 bytes %d-%d/%d 7", size-7, size-1, size),
		"bytes=0-3,5":  fmt.Sprintf("200  %d", size),
		"bytes=99999-": fmt.Sprintf("416 bytes */%d 0", size),
	} {
		a := w.get("/left/-/left-2.0.4.tgz", func(r *registry.HTTPRequest) { r.Range = spec })
		if got := fmt.Sprintf("%d %s %d", a.status, a.fields["Content-Range"], a.body.Len()); got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
	doc := w.get("/left")
	again := w.get("/left", func(r *registry.HTTPRequest) { r.IfNoneMatch = doc.fields["ETag"] })
	if again.status != 304 || again.body.Len() != 0 {
		t.Errorf("%d", again.status)
	}
}

// A registry that is not at a public address is asked only when the person says that it is
// theirs, and the refusal tells how they say so.
func TestRegistryInThePersonsNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"10.1.2.3":        `set "private": true for this source in registries.sources of config.json`,
		"203.0.113.9":     "at an address that is never allowed",
		"169.254.169.254": "at an address that is never allowed",
	} {
		w := newWorld(t, func(c *registry.Config) {
			c.Upstreams = nil
			c.Dialer.Resolve = func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr(address)}, nil
			}
		})
		if a := w.get("/left"); a.status != 403 || !strings.Contains(a.body.String(), strings.ReplaceAll(want, `"`, `\"`)) {
			t.Errorf("%s: %d %s", address, a.status, &a.body)
		}
	}
}

func TestAlias(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	if a := w.get("/left/-/left-2.0.4.tgz", func(r *registry.HTTPRequest) { r.Authority = "https://yarn.example:443" }); a.status != 200 {
		t.Errorf("%d %s", a.status, a.phrase)
	}
}

// Some registries write the slash of a scope as "%2f" also in the addresses of tarballs.
func TestEscapedScope(t *testing.T) {
	w := newWorld(t, nil)
	w.npm.Add("@acme/left", forged.NPMVersion{Version: "1.0.0", Published: old()})
	w.npm.Change(func(_ string, body []byte) []byte {
		return bytes.ReplaceAll(body, []byte("/@acme/left/-/"), []byte("/@acme%2fleft/-/"))
	})
	for path, status := range map[string]int{"/@acme%2fleft": 200, "/@acme/left": 200, "/@acme%2fleft/-/left-1.0.0.tgz": 200, "/@acme/left/-/left-1.0.0.tgz": 403, "/@acme%252fleft/-/left-1.0.0.tgz": 404} {
		if a := w.get(path); a.status != status {
			t.Errorf("%s: %d %s", path, a.status, a.phrase)
		}
	}
	if asked, _ := w.npm.Requests(); !slices.Contains(asked, "GET /@acme%2fleft/-/left-1.0.0.tgz") {
		t.Errorf("%v", asked)
	}
}

// The body of an audit is written anew, of names that the registry knows.
func TestAudit(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	w.get("/left")
	a := w.get("/-/npm/v1/security/advisories/bulk", func(r *registry.HTTPRequest) {
		r.Method, r.Body = "POST", []byte(`{"left":["2.0.4"],"my-secret-data":["1.0.0"]}`)
	})
	if a.status != 200 || a.body.String() != "{}" {
		t.Errorf("%d %s", a.status, &a.body)
	}
	if _, bodies := w.npm.Requests(); bodies[len(bodies)-1] != `{"left":["2.0.4"]}` {
		t.Errorf("%q", bodies)
	}
}

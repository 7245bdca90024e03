package registry_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

// front stands before the forged registry of a world and answers in its place.
type front struct {
	*world
	own  *url.URL                     // of what stands there
	seen atomic.Pointer[http.Request] // the last one at another host
	with atomic.Pointer[http.HandlerFunc]
}

// newFront makes a world whose registry has a credential, and another host that notes what it
// is asked.
func newFront(t *testing.T) (f *front, elsewhere string) {
	t.Helper()
	f = &front{}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.seen.Store(r)
		f.npm.ServeHTTP(w, r)
	}))
	t.Cleanup(other.Close)
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if with := f.with.Load(); with != nil {
			(*with)(w, r)
			return
		}
		f.npm.ServeHTTP(w, r)
	}))
	t.Cleanup(own.Close)
	f.own, _ = url.Parse(own.URL)
	f.world = newWorld(t, func(c *registry.Config) {
		c.Origins[0].Credential = "Bearer secret"
		c.Upstreams["npm.example"] = f.own
		c.Upstreams["blobs.example"], _ = url.Parse(other.URL)
	})
	f.addLeft()
	return f, other.URL
}

func (f *front) answer(with http.HandlerFunc) { f.with.Store(&with) }

// A kept document stands in for a registry that is away, not for one that says no.
func TestKeptDocumentAfterAnAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		kept   bool
	}{
		"unauthorized":       {status(401), false},
		"forbidden":          {status(403), false},
		"too many":           {status(429), false},
		"gone":               {status(410), false},
		"a redirect nowhere": {status(302), false},
		"a broken server":    {status(500), true},
		"no gateway":         {status(503), true},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte("{"))
			panic(http.ErrAbortHandler)
		}, true},
		"another coding": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Encoding", "br") }, false},
		"a private address": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://127.0.0.1/left", http.StatusFound)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := newFront(t)
			if a := f.get("/left"); a.status != 200 {
				t.Fatalf("%d %s", a.status, a.phrase)
			}
			f.answer(c.answer)
			if a := f.get("/left"); (a.status == 200) != c.kept {
				t.Errorf("%d %s", a.status, a.phrase)
			}
		})
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// Why a registry cannot be reached is told without the addresses of this machine's network.
func TestAddressesStayHere(t *testing.T) {
	for name, c := range map[string]struct {
		resolve func(context.Context, string) ([]netip.Addr, error)
		want    string
	}{
		"nobody listens": {nil, "connection refused"},
		"no name": {func(context.Context, string) ([]netip.Addr, error) {
			return nil, &net.DNSError{Err: "read udp 127.0.0.53:53: i/o timeout", Name: "npm.example", Server: "127.0.0.53:53"}
		}, "cannot be looked up"},
	} {
		w := newWorld(t, func(cfg *registry.Config) {
			if cfg.Dialer.Resolve = c.resolve; c.resolve != nil {
				cfg.Upstreams = nil
				return
			}
			cfg.Upstreams["npm.example"], _ = url.Parse("http://127.0.0.1:1")
		})
		if a := w.get("/left"); a.status != 502 || !strings.Contains(a.phrase, c.want) || strings.Contains(a.phrase, "127.0.0") {
			t.Errorf("%s: %d %s", name, a.status, a.phrase)
		}
	}
}

// Artifacts may be at another host, which gets no credential; nothing leads into this network.
func TestRedirects(t *testing.T) {
	for name, c := range map[string]struct {
		to     string // "PATH" becomes that of the request, "OTHER" the other host
		status int
	}{
		"another host":       {"https://blobs.example/PATH", 200},
		"without TLS":        {"http://blobs.example/PATH", 403}, // the plane knows npm.example by https, though it is moved
		"an address":         {"https://127.0.0.1/PATH", 403},
		"an address in IPv6": {"https://[::1]/PATH", 403},
		"a mapped address":   {"https://[::ffff:127.0.0.1]/PATH", 403},
		"metadata":           {"http://169.254.169.254/latest/meta-data/", 403},
		"a private network":  {"http://10.0.0.1/PATH", 403},
		"this host":          {"http://localhost/PATH", 403},
		"a file":             {"file:///etc/passwd", 502},
		"another scheme":     {"ftp://blobs.example/PATH", 502},
		"data":               {"data:text/plain,hello", 502},
		"a login":            {"https://user:pass@blobs.example/PATH", 502},
		"itself":             {"/PATH", 502},
		"no address":         {"https://%zz/", 502},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := newFront(t)
			f.answer(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, ".tgz") {
					f.npm.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Location", strings.ReplaceAll(c.to, "PATH", r.URL.Path[1:]))
				w.WriteHeader(http.StatusFound)
			})
			if a := f.get("/left/-/left-2.0.4.tgz"); a.status != c.status {
				t.Errorf("%d %s", a.status, a.phrase)
			}
			if r := f.seen.Load(); r != nil && (r.Header.Get("Authorization") != "" || c.status != 200) {
				t.Errorf("the other host got %s with %v", r.URL, r.Header)
			}
		})
	}
}

// A redirect does not lead to where another registry is in the person's network, neither by that
// one's name nor by its address. Its own way there stays open.
func TestRedirectsToOtherRegistries(t *testing.T) {
	for name, c := range map[string]struct {
		to     string // "OWN" and "OTHER" become addresses
		status int
	}{
		"another's name":       {"https://inner.example/left", 403},
		"another's address":    {"OTHER/left", 403},
		"its own, without one": {"/moved/left", 200},
		"its own name":         {"https://npm.example/moved/left", 200},
		"its own address":      {"OWN/moved/left", 200},
	} {
		t.Run(name, func(t *testing.T) {
			f, elsewhere := newFront(t)
			inner, _ := url.Parse("https://inner.example/")
			f.close()
			f.start(func(c *registry.Config) {
				c.Origins = append(c.Origins, &registry.Origin{Ecosystem: "npm", URL: inner, Scopes: []string{"@inner"}, Private: true})
				c.Upstreams["npm.example"] = f.own
				c.Upstreams["inner.example"], _ = url.Parse(elsewhere)
			})
			f.answer(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/left" {
					r.URL.Path = strings.TrimPrefix(r.URL.Path, "/moved")
					f.npm.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Location", strings.NewReplacer("OWN", f.own.String(), "OTHER", elsewhere).Replace(c.to))
				w.WriteHeader(http.StatusFound)
			})
			if a := f.get("/left"); a.status != c.status {
				t.Errorf("%d %s", a.status, a.phrase)
			}
			if r := f.seen.Load(); r != nil {
				t.Errorf("the other registry was asked for %s", r.URL)
			}
		})
	}
}

// What a registry sends compressed is bounded as what it sends plainly.
func TestCodings(t *testing.T) {
	var bomb bytes.Buffer
	packed := gzip.NewWriter(&bomb)
	if _, err := packed.Write(make([]byte, 4<<20)); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		coding []string
		body   []byte
	}{
		"a bomb":         {[]string{"gzip"}, bomb.Bytes()},
		"gzip twice":     {[]string{"gzip", "gzip"}, bomb.Bytes()},
		"in one field":   {[]string{"gzip, gzip"}, bomb.Bytes()},
		"not compressed": {[]string{"gzip"}, []byte("{}")},
		"zstd":           {[]string{"zstd"}, []byte("{}")},
		"deflate":        {[]string{"deflate"}, []byte("{}")},
		"cut off":        {[]string{"gzip"}, bomb.Bytes()[:bomb.Len()/2]},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := newFront(t)
			f.close()
			f.start(func(cfg *registry.Config) {
				cfg.Limits.DocumentBytes = 1 << 20
				cfg.Upstreams = f.moved(t, c.coding, c.body)
			})
			if a := f.get("/left"); a.status != 502 {
				t.Errorf("%d %s", a.status, a.phrase)
			}
		})
	}
}

// A server that calls the compression of a file a coding still serves the file.
func TestFilesWithACoding(t *testing.T) {
	f, _ := newFront(t)
	f.answer(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".tgz") {
			w.Header().Set("Content-Encoding", "x-gzip")
		}
		f.npm.ServeHTTP(w, r)
	})
	if a := f.get("/left/-/left-2.0.4.tgz"); a.status != 200 {
		t.Errorf("%d %s", a.status, a.phrase)
	}
}

// A document below the limit is refused when it was compressed more than honest ones are.
func TestRatio(t *testing.T) {
	var bomb bytes.Buffer
	packed := gzip.NewWriter(&bomb)
	if _, err := packed.Write(bytes.Repeat([]byte(" "), 4<<20)); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	f, _ := newFront(t)
	f.close()
	f.start(func(cfg *registry.Config) { cfg.Upstreams = f.moved(t, []string{"gzip"}, bomb.Bytes()) })
	if a := f.get("/left"); a.status != 502 || !strings.Contains(a.phrase, "more than 200 times its size") {
		t.Errorf("%d %s", a.status, a.phrase)
	}
}

// moved maps the registry to one that sends these bytes only.
func (f *front) moved(t *testing.T, coding []string, body []byte) map[string]*url.URL {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Encoding"] = coding
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	u, _ := url.Parse(server.URL)
	return map[string]*url.URL{"npm.example": u}
}

// A document that is too large for the facts in memory is read by those who ask for it at a time,
// and anew when it has changed.
func TestLargeDocuments(t *testing.T) {
	w := newWorld(t, func(c *registry.Config) { c.Limits.FactsBytes = 1 << 20 })
	w.npm.Add("large", forged.NPMVersion{Version: "1.0.0", Published: old(), Manifest: map[string]any{"readme": strings.Repeat("x", 9<<20)}})
	for _, version := range []string{"1.0.1", "1.0.2"} {
		w.npm.Add("large", forged.NPMVersion{Version: version, Published: old()})
		var clients sync.WaitGroup
		for range 3 {
			clients.Go(func() {
				if a := w.get("/large"); a.status != 200 || !strings.Contains(a.body.String(), `"`+version+`"`) {
					t.Errorf("%d %s", a.status, a.phrase)
				}
			})
		}
		clients.Wait()
	}
}

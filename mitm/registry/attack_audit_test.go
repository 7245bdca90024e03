package registry_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

func audit(body string) func(*registry.HTTPRequest) {
	return func(r *registry.HTTPRequest) { r.Method, r.Body = "POST", []byte(body) }
}

const bulk = "/-/npm/v1/security/advisories/bulk"

// Versions are data as well as names: those that the registry has not served stay here.
func TestAuditTellsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		body, told string // empty: it is refused
	}{
		"an honest one":        {`{"left":["2.0.4"]}`, `{"left":["2.0.4"]}`},
		"data for a version":   {`{"left":["2.0.4","c2VjcmV0"]}`, `{"left":["2.0.4"]}`},
		"data only":            {`{"left":["c2VjcmV0"]}`, `{}`},
		"a version many times": {`{"left":["2.0.4","2.0.4","2.0.4"]}`, `{"left":["2.0.4"]}`},
		"an order that tells":  {`{"left":["2.1.0","2.0.4"]}`, `{"left":["2.0.4","2.1.0"]}`},
		"a name not served":    {`{"right":["1.0.0"]}`, `{}`},
		"a private name":       {`{"@acme/x":["1.0.0"]}`, `{}`},
		"a name twice":         {`{"left":["2.0.4"],"left":["9.9.9"]}`, ``},
		"a nested one":         {`{"left":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, ``},
		"an array":             {`["left"]`, ``},
		"nothing":              {``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.addLeft()
			w.npm.Add("right", forged.NPMVersion{Version: "1.0.0", Published: old()})
			w.get("/left")
			a := w.get(bulk, audit(c.body))
			_, bodies := w.npm.Requests()
			switch last := bodies[len(bodies)-1]; {
			case c.told == "" && (a.status < 400 || last != ""):
				t.Errorf("%d, and the registry got %q", a.status, last)
			case c.told != "" && (a.status != 200 || last != c.told):
				t.Errorf("%d, and the registry got %q", a.status, last)
			}
		})
	}
}

// npm ci asks for tarballs only, and then for the audit.
func TestAuditOfTarballs(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	w.get("/left/-/left-2.0.4.tgz")
	w.get(bulk, audit(`{"left":["2.0.4","2.1.0"]}`))
	if _, bodies := w.npm.Requests(); bodies[len(bodies)-1] != `{"left":["2.0.4"]}` {
		t.Errorf("%q", bodies)
	}
}

func TestAuditIsNotRedirected(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was told") }))
	defer elsewhere.Close()
	redirecting := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer redirecting.Close()
	w := newWorld(t, func(c *registry.Config) {
		c.Upstreams["npm.example"], _ = url.Parse(redirecting.URL)
		c.Upstreams["elsewhere.example"], _ = url.Parse(elsewhere.URL) // so that its address is no obstacle
	})
	if a := w.get(bulk, audit(`{}`)); a.status != 502 {
		t.Errorf("%d", a.status)
	}
}

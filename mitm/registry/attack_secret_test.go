package registry_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/pypi"
)

// A registry that shows the person's login in a document gives it to nobody.
func TestLoginsInDocuments(t *testing.T) {
	const token, password = "npm_0123456789abcdefghijklmnopqrstuvwxyz", "correct-horse-battery-staple"
	basic := base64.StdEncoding.EncodeToString([]byte("alice:" + password))
	for name, c := range map[string]struct {
		credential, shown string
		status            int
	}{
		"a token":              {"Bearer " + token, token, 502},
		"a part of a token":    {"Bearer " + token, "..." + token[10:], 502},
		"escaped":              {"Bearer " + token, strings.ReplaceAll(token, "_", `\u005f`), 502},
		"the encoded login":    {"Basic " + basic, basic, 502},
		"the password":         {"Basic " + basic, password, 502},
		"the name of a person": {"Basic " + basic, "alice", 200},
		"nothing":              {"", token, 200},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(cfg *registry.Config) { cfg.Origins[0].Credential = c.credential })
			w.addLeft()
			w.npm.Change(func(_ string, body []byte) []byte {
				return []byte(strings.Replace(string(body), `{"`, `{"description":"`+c.shown+`","`, 1))
			})
			if a := w.get("/left"); a.status != c.status {
				t.Errorf("%d %s", a.status, a.phrase)
			}
		})
	}
}

// So does what belongs to an artifact, which is text.
func TestLoginsBesideArtifacts(t *testing.T) {
	const token, file = "pypi-0123456789abcdefghijklmnopqrstuvwxyz", "/foo-1.0-py3-none-any.whl"
	for shown, status := range map[string]int{token: 502, "...-" + token[10:]: 502, "Basic cHlwaS0wMTIzNDU2Nzg5YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo=": 502, "a token": 200} {
		index := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/simple/foo/":
				w.Header().Set("Content-Type", "text/html")
				_, _ = w.Write([]byte(`<a href="` + file + `" data-core-metadata="true">foo</a>`))
			case file + ".metadata":
				_, _ = w.Write([]byte("Metadata-Version: 2.1\nName: foo\nVersion: 1.0\nSummary: " + shown + "\n"))
			default:
				http.NotFound(w, r)
			}
		}))
		w := newWorld(t, func(c *registry.Config) {
			base, _ := url.Parse("https://pypi.example/")
			c.Ecosystems = append(c.Ecosystems, pypi.Ecosystem{})
			c.Origins = append(c.Origins, &registry.Origin{Ecosystem: "pypi", URL: base, Credential: "Bearer " + token})
			c.Upstreams["pypi.example"], _ = url.Parse(index.URL)
		})
		if a := w.get(file+".metadata", func(r *registry.HTTPRequest) { r.Authority = "https://pypi.example:443" }); a.status != status {
			t.Errorf("%s: %d %s", shown, a.status, a.phrase)
		}
		w.close()
		index.Close()
	}
}

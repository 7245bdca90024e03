package learn

import (
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCargoIsListenedTo(t *testing.T) {
	for index, want := range map[string]string{
		"https://index.cargo.example/config.json":      "https://index.cargo.example/",
		"https://cargo.example:8443/a/b/config.json":   "https://cargo.example:8443/a/b/",
		"http://plain.cargo.example:8080/config.json":  "http://plain.cargo.example:8080/",
		"https://git.example/index/info/refs":          "",
		"https://cargo.example/xconfig.json":           "",
		"https://cargo.example/config.json?from=there": "",
		"file:///nowhere":                              "",
	} {
		t.Run(index, func(t *testing.T) {
			w := newTools(t)
			w.addCargo(t, index)
			got, err := Learn(t.Context(), w.host())
			if err != nil {
				t.Fatal(err)
			}
			if want == "" {
				if len(got.Sources) != 0 || len(got.Notes) != 1 {
					t.Errorf("got %+v", got)
				}
				return
			}
			if diff := cmp.Diff(Learned{Sources: []Source{{Ecosystem: Cargo, URL: want, From: CargoDefault}}}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Another program of the machine finds the socket and says something.
func TestNobodyElseIsHeard(t *testing.T) {
	heard, err := listen(t.Context(), func(proxy string, _ []byte) error {
		u, err := url.Parse(proxy)
		if err != nil {
			return err
		}
		u.User = nil
		stranger := &http.Transport{Proxy: http.ProxyURL(u)}
		defer stranger.CloseIdleConnections()
		for _, address := range []string{"http://evil.example/config.json", "https://evil.example/config.json"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
			if err != nil {
				return err
			}
			if answer, err := stranger.RoundTrip(r); err == nil {
				answer.Body.Close()
				if answer.StatusCode != http.StatusForbidden {
					t.Errorf("a stranger is answered %d", answer.StatusCode)
				}
			}
		}
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", u.Host)
		if err != nil {
			return err
		}
		_, err = conn.Write([]byte("nonsense\r\n\r\n"))
		return err // and the connection stays open for now
	})
	if err != nil || heard != nil {
		t.Errorf("heard %v, %v", heard, err)
	}
}

func TestCargoConfiguration(t *testing.T) {
	for name, c := range map[string]struct {
		config, credentials string
		env                 []string
		want                []Source
		notes               int
	}{
		"replaced": {
			config: "[source.crates-io]\nreplace-with = 'a'\n[source.a]\nreplace-with = 'b'\n[source.b]\nregistry = 'sparse+https://mirror.example/index'",
			want:   []Source{{URL: "https://mirror.example/index/", From: "source.crates-io in Cargo's configuration"}},
		},
		"replaced by a registry": {
			config: "[source.crates-io]\nreplace-with = 'a'\n[registries.a]\nindex = 'sparse+https://a.example/'",
			want:   []Source{{URL: "https://a.example/", From: "source.crates-io in Cargo's configuration"}, {URL: "https://a.example/", From: "registries.a in Cargo's configuration", Name: "a"}},
		},
		"replaced by a directory": {config: "[source.crates-io]\nreplace-with = 'a'\n[source.a]\ndirectory = '/vendor'", notes: 1},
		"replaced in a circle":    {config: "[source.crates-io]\nreplace-with = 'a'\n[source.a]\nreplace-with = 'a'", notes: 1},
		"replaced by git":         {config: "[source.crates-io]\nreplace-with = 'a'\n[source.a]\nregistry = 'https://git.example/index'", notes: 1},
		"broken":                  {config: "[source", notes: 1},
		"of no address":           {config: "[source.crates-io]\nreplace-with = 'a'\n[source.a]\nregistry = 'sparse+https://m.example/?x'", notes: 1},
		"a registry with a token": {
			config: "[source.crates-io]\nreplace-with = 'a'\n[source.a]\ndirectory = '/v'\n[registries.my-own]\nindex = 'sparse+https://own.example/'", credentials: "[registries.my-own]\ntoken = 'secret'",
			want: []Source{{URL: "https://own.example/", From: "registries.my-own in Cargo's configuration", Name: "my-own", Private: true, Credential: "cargo"}}, notes: 1,
		},
		"a registry by variables": {
			config: "[source.crates-io]\nreplace-with = 'a'\n[source.a]\ndirectory = '/v'\n[registries.my-own]\nindex = 'sparse+https://own.example/'",
			env:    []string{"CARGO_REGISTRIES_MY_OWN_INDEX=sparse+https://other.example/", "CARGO_REGISTRIES_MY_OWN_TOKEN=secret"},
			want:   []Source{{URL: "https://other.example/", From: "registries.my-own in Cargo's configuration", Name: "my-own", Private: true, Credential: "cargo"}}, notes: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTools(t)
			w.addCargo(t, "https://index.cargo.example/config.json")
			write(t, filepath.Join(w.home, ".cargo/config.toml"), c.config)
			write(t, filepath.Join(w.home, ".cargo/credentials.toml"), c.credentials)
			got, err := Learn(t.Context(), w.host(c.env...))
			for i := range c.want {
				c.want[i].Ecosystem = Cargo
			}
			if diff := cmp.Diff(c.want, got.Sources); diff != "" || err != nil || len(got.Notes) != c.notes {
				t.Error(err, got.Notes, diff)
			}
			for _, s := range got.Sources {
				if login, err := w.host(c.env...).Login(t.Context(), s); err != nil || login != map[bool]string{true: "secret"}[s.Private] {
					t.Errorf("the login is %q, %v", login, err)
				}
			}
			if strings.Contains(strings.Join(got.Notes, ""), "secret") {
				t.Errorf("notes: %v", got.Notes)
			}
		})
	}
}

package learn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
)

// everyTool adds tools that have a registry each, and more than one where they can.
func everyTool(t *testing.T) tools {
	t.Helper()
	w := newTools(t)
	write(t, filepath.Join(w.home, "npmrc"), "//npm.acme.example/:_authToken=${NPM_CONFIG_MY_TOKEN}\n@acme:registry=http://npm.acme.example/\n@other:registry=http://npm.acme.example/\n@same:registry=http://npm.example/\n@odd:registry=nowhere\n")
	w.add(t, "npm", `"config get registry") echo http://npm.example`,
		`"config get globalconfig userconfig") printf 'globalconfig=/nowhere\nuserconfig=`+w.home+`/npmrc\n'`)
	w.add(t, "yarn", `--version) echo 1.22.22`, `"config get registry") echo http://yarn.example`)
	w.add(t, "pip", `"config list") printf '%s\n' "global.extra-index-url='http://me:pypipw@extra.example/simple'"`,
		`"download --help") echo '  -i, --index-url <url>   Base URL (default http://py.example/simple). More (default x).'`)
	key := sumKey("sum.example")
	w.add(t, "go", `"env -json GOPROXY GOSUMDB GOPRIVATE GONOPROXY GOROOT") echo '{"GOPROXY": "http://go.example|http://gopher:gopw@go2.example,direct", "GOSUMDB": "`+key+`", "GOPRIVATE": "git.acme.example/*,x.example", "GOROOT": "/nowhere"}'`)
	w.addCargo(t, "http://cargo.example/index/config.json")
	return w
}

// registries serves the documents of some registries, at names that are looked up by it.
func registries(t *testing.T) netguard.Dialer {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Host + r.URL.Path + " " + r.Header.Get("Authorization") {
		case "npm.example/npm/latest ":
			fmt.Fprint(w, `{"dist": {"tarball": "https://blobs.example/npm/-/npm-1.tgz"}}`)
		case "npm.acme.example/npm/latest Bearer token":
			fmt.Fprint(w, `{"dist": {"tarball": "http://npm.acme.example/npm/-/npm-1.tgz"}}`)
		case "py.example/simple/pip/ ":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href="../../files/pip-1.whl">pip</a>`)
		case "cargo.example/index/config.json ":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		default:
			http.Error(w, r.Host+r.URL.Path+" with "+r.Header.Get("Authorization"), http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return netguard.Dialer{
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			switch {
			case strings.HasPrefix(host, "npm.acme"), host == "extra.example":
				return []netip.Addr{netip.MustParseAddr("10.1.2.3")}, nil
			case host == "go2.example":
				return nil, errors.New("no such host")
			}
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		},
		Connect: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
		},
	}
}

func TestLearn(t *testing.T) {
	w := everyTool(t)
	h := w.host("NPM_CONFIG_MY_TOKEN=token")
	h.Offline, h.Dialer = false, registries(t)
	got, err := Learn(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{sumKey("sum.example")}
	want := []Source{
		{Ecosystem: NPM, URL: "http://npm.example/", From: "npm config get registry", Aliases: []string{"http://yarn.example/"}, Artifacts: []string{"https://blobs.example/"}},
		{Ecosystem: NPM, URL: "http://npm.acme.example/", From: "npmrc, @acme:registry", Artifacts: []string{}, Scopes: []string{"@acme", "@other"}, Private: true, Credential: "npmrc"},
		{Ecosystem: PyPI, URL: "http://py.example/simple/", From: "pip download --help", Artifacts: []string{"http://py.example/files/"}},
		{Ecosystem: PyPI, URL: "http://extra.example/simple/", From: "pip config list", Private: true, Credential: "pip"},
		{Ecosystem: Go, URL: "http://go.example/", From: "go env GOPROXY", Keys: keys},
		{Ecosystem: Go, URL: "http://go2.example/", From: "go env GOPROXY", Credential: "go", Keys: keys},
		{Ecosystem: Go, From: "go env GOPRIVATE", Scopes: []string{"git.acme.example/*", "x.example"}, Private: true},
		{Ecosystem: Cargo, URL: "http://cargo.example/index/", From: CargoDefault},
	}
	if diff := cmp.Diff(want, got.Sources); diff != "" {
		t.Error(diff)
	}
	notes := []string{
		"npmrc, @odd:registry: not a complete address",
		"http://extra.example/simple/ could not be examined: the registry answered 404",
		"http://go2.example/ could not be examined: look up go2.example: no such host",
		"http://cargo.example/index/ could not be examined: the registry answered 302",
	}
	if diff := cmp.Diff(notes, got.Notes); diff != "" {
		t.Error(diff)
	}
	if left, err := os.ReadDir(filepath.Join(w.state, workName)); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestMissingToolsAreLeftOut(t *testing.T) {
	got, err := Learn(t.Context(), newTools(t).host())
	if diff := cmp.Diff(Learned{}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestOtherTools(t *testing.T) {
	for name, c := range map[string]struct {
		tools   map[string][]string // by name, the cases of each
		files   map[string]string   // in the home
		sources []Source
		notes   []string
	}{
		"pnpm alone": {
			tools:   map[string][]string{"pnpm": {`"config get registry") echo https://npm.example/`}},
			sources: []Source{{Ecosystem: NPM, URL: "https://npm.example/", From: "pnpm config get registry"}},
		},
		"yarn 4 alone": {
			tools:   map[string][]string{"yarn": {"--version) echo 4.18.0", `"config get npmRegistryServer") echo https://yarn.example`}},
			sources: []Source{{Ecosystem: NPM, URL: "https://yarn.example/", From: "yarn config get npmRegistryServer"}},
		},
		"bun alone": {
			tools: map[string][]string{"bun": nil},
			notes: []string{"bun does not say which registry it uses: install npm, or name it in registries.sources"},
		},
		"uv alone": {
			tools: map[string][]string{"uv": nil},
			notes: []string{"uv does not say which index it uses: install pip, or name it in registries.sources"},
		},
		"npm without an answer": {
			tools: map[string][]string{"npm": {`"config get registry") echo undefined`}},
			notes: []string{"npm config get registry: not a complete address"},
		},
		"npm that talks": {
			tools: map[string][]string{"npm": {`"config get registry") head -c 2000000 /dev/zero`}},
			notes: []string{"npm config get registry: more than 1048576 bytes of output"},
		},
		"npm that fails": {
			tools: map[string][]string{"npm": {`"config get registry") printf 'bad https://me:hunter2@npm.example/\033[31m\nmore\n' >&2; exit 1`}},
			notes: []string{`npm config get registry: bad https://npm.example/\e[31m`},
		},
		"go without a proxy": {
			tools: map[string][]string{"go": {`env*) echo '{"GOPROXY": "direct", "GOSUMDB": "off"}'`}},
			notes: []string{"go env GOSUMDB names no checksum database", "go env GOPROXY names no module proxy"},
		},
		"pip without a default": {
			tools: map[string][]string{"pip3": {`"config list")`, `"download --help") echo --index-url`}},
			notes: []string{"pip3 download --help names no index"},
		},
		"pip and uv of one index": {
			tools: map[string][]string{"pip": {`"config list") echo "global.index-url='https://py.example/simple'"`}},
			files: map[string]string{
				".config/uv/uv.toml": `index-url = "https://me:pw@py.example/simple/"`,
				".netrc":             "machine py.example login me password pw",
			},
			sources: []Source{{Ecosystem: PyPI, URL: "https://py.example/simple/", From: "pip config list", Credential: "netrc"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTools(t)
			for tool, cases := range c.tools {
				w.add(t, tool, cases...)
			}
			for path, content := range c.files {
				write(t, filepath.Join(w.home, path), content)
			}
			got, err := Learn(t.Context(), w.host())
			if diff := cmp.Diff(Learned{c.sources, c.notes}, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

// A tool that waits for ever ends with the question, and so does what it has started.
func TestAToolThatWaits(t *testing.T) {
	w := newTools(t)
	pipe := filepath.Join(w.home, "asked")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	w.add(t, "npm", `"config get registry") echo >"$HOME/asked"; tail -f /dev/null`)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	go func() {
		_, err := os.ReadFile(pipe) // once npm is there
		cancel(errors.Join(errors.New("enough"), err))
	}()
	if _, err := Learn(ctx, w.host()); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("got %v", err)
	}
}

// The tools of this machine name registries that are of use, whatever these are.
func TestToolsOfThisMachine(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Learn(t.Context(), Host{Env: os.Environ(), Home: home, Dir: t.TempDir(), Offline: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := check(got.Sources); err != nil {
		t.Error(err)
	}
	found := map[string]Source{}
	for _, s := range got.Sources {
		if s.URL != "" && found[s.Ecosystem].URL == "" {
			found[s.Ecosystem] = s
		}
	}
	for _, ecosystem := range []string{NPM, PyPI, Go, Cargo} {
		if ecosystem == Cargo && slices.Contains(got.Notes, "cargo asked for no sparse index") {
			continue // one from before 1.70 clones a repository
		}
		if found[ecosystem].URL == "" {
			t.Errorf("nothing was learned of %s; notes: %q", ecosystem, got.Notes)
		}
	}
	if keys := found[Go].Keys; len(keys) != 1 || !isVerifierKey(keys[0]) {
		t.Errorf("the checksum database has the keys %q", keys)
	}
}

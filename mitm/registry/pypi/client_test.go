package pypi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// served is an index over HTTP, which real clients can use.
type served struct {
	*httptest.Server
	*registrytest.Gateway
	t testing.TB
}

// serve starts an index with these documents, in which HOST stands for its address, and files.
func serve(t testing.TB, docs upstream, files map[string][]byte, hidden ...string) *served {
	t.Helper()
	g := &registrytest.Gateway{Ecosystem: Ecosystem{}}
	server := httptest.NewUnstartedServer(g)
	at := "http://" + server.Listener.Addr().String()
	filled := upstream{}
	for path, text := range docs {
		text = strings.ReplaceAll(text, "HOST", at)
		for name, data := range files {
			sum := sha256.Sum256(data)
			text = strings.ReplaceAll(text, "SUM("+name+")", hex.EncodeToString(sum[:]))
		}
		filled[path] = text
	}
	g.Fetcher = filled
	g.Origin = &registry.Origin{URL: address(t, at+"/"), Artifacts: []*url.URL{address(t, at+"/files/")}}
	g.Bases = map[string]*url.URL{"/": g.Origin.URL, "/files/": g.Origin.Artifacts[0]}
	g.Hidden = func(_ *registry.Facts, v string) bool { return slices.Contains(hidden, v) }
	g.Bytes = func(_ context.Context, _ *registry.Facts, _ *registry.Version, a *registry.Ask) ([]byte, error) {
		data, there := files[fileName(a.Path)]
		if !there {
			return nil, registry.ErrNotFound
		}
		return data, nil
	}
	server.Start()
	t.Cleanup(server.Close)
	return &served{server, g, t}
}

// interpreter is the machine's Python itself, without a version manager before it that would
// do more than pip is asked for.
var interpreter = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	return strings.TrimSpace(string(out)), err
})

// pip runs the machine's pip against the index, and returns what it says.
func (s *served) pip(args ...string) (string, error) {
	s.t.Helper()
	python, err := interpreter()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(s.t.Context(), python, append([]string{
		"-m", "pip", "--isolated", "--disable-pip-version-check",
		"--no-cache-dir", "--retries=0",
	}, args...)...)
	home := s.t.TempDir()
	cmd.Dir = home
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "PIP_CONFIG_FILE=" + os.DevNull, "LC_ALL=C.UTF-8", "NO_PROXY=*"}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// wheels are three versions of app, which needs lib, with the metadata of the newest beside it.
func wheels(t testing.TB) map[string][]byte {
	t.Helper()
	about := func(v string) string {
		return "Metadata-Version: 2.1\nName: app\nVersion: " + v + "\nRequires-Dist: my.lib (>=1)\n\n"
	}
	files := map[string][]byte{}
	for _, v := range []string{"1.0", "2.0", "3.0+cpu.1"} {
		info := "app-" + v + ".dist-info/"
		files["app-"+v+"-py3-none-any.whl"] = wheel(t, "app.py", "version = '"+v+"'\n", info+"METADATA", about(v),
			info+"WHEEL", "Wheel-Version: 1.0\nGenerator: forged\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
			info+"RECORD", "app.py,,\n"+info+"METADATA,,\n"+info+"WHEEL,,\n"+info+"RECORD,,\n")
	}
	files["app-3.0+cpu.1-py3-none-any.whl.metadata"] = []byte(about("3.0+cpu.1"))
	files["my_lib-1.5-py3-none-any.whl"] = goodWheel(t, "my_lib", "1.5")
	return files
}

// The documents of that, as JSON and as HTML.
func forms(files map[string][]byte) map[string]upstream {
	var entries, links []string
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range files {
			if strings.HasSuffix(name, ".whl") && !yield(name) {
				return
			}
		}
	}) {
		meta, attribute := "false", ""
		if _, there := files[name+metadataSuffix]; there {
			meta = `{"sha256":"SUM(` + name + metadataSuffix + `)"}`
			attribute = ` data-core-metadata="sha256=SUM(` + name + metadataSuffix + `)"`
		}
		entries = append(entries, fmt.Sprintf(`{"filename":%q,"url":"HOST/files/p/%[1]s","hashes":{"sha256":"SUM(%[1]s)"},"requires-python":">=3","core-metadata":%s,"upload-time":"2020-01-01T00:00:00Z","yanked":false}`, name, meta))
		links = append(links, fmt.Sprintf(`<a href="../../files/p/%[1]s#sha256=SUM(%[1]s)" data-requires-python="&gt;=3"%s>%[1]s</a>`, name, attribute))
	}
	page := func(project, prefix string) (string, string) {
		var e, l []string
		for i := range entries {
			if strings.Contains(entries[i], `"filename":"`+prefix) {
				e, l = append(e, entries[i]), append(l, links[i])
			}
		}
		return typeJSON + ` {"meta":{"api-version":"1.1"},"name":"` + project + `","files":[` + strings.Join(e, ",") + `],"versions":["1.0","1.5","2.0","3.0+cpu.1"]}`,
			"text/html <html><body>" + strings.Join(l, "<br>") + "</body></html>"
	}
	appJSON, appHTML := page("app", "app-")
	libJSON, libHTML := page("my-lib", "my_lib-")
	return map[string]upstream{
		"JSON": {"simple/app/": appJSON, "simple/my-lib/": libJSON},
		"HTML": {"simple/app/": appHTML, "simple/my-lib/": libHTML},
	}
}

// pip installs the newest version that is shown, whichever form the index has.
func TestPipInstalls(t *testing.T) {
	files := wheels(t)
	for form, docs := range forms(files) {
		for _, tc := range []struct {
			name   string
			hidden []string
			want   string
		}{
			{"all", nil, "3.0+cpu.1"},
			{"newest hidden", []string{"3.0+cpu.1"}, "2.0"},
			{"two hidden", []string{"3.0+cpu.1", "2.0"}, "1.0"},
		} {
			t.Run(form+", "+tc.name, func(t *testing.T) {
				s := serve(t, docs, files, tc.hidden...)
				target := t.TempDir()
				out, err := s.pip("install", "--target", target, "--index-url", s.URL+"/simple/", "App")
				if err != nil {
					t.Fatalf("%v: %s\n%s", err, out, s.Requests())
				}
				got, err := os.ReadFile(filepath.Join(target, "app.py"))
				if string(got) != "version = '"+tc.want+"'\n" {
					t.Errorf("%s %v: %s", got, err, out)
				}
				if _, err := os.Stat(filepath.Join(target, "my_lib.py")); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestPipIsTold(t *testing.T) {
	files := wheels(t)
	s := serve(t, forms(files)["JSON"], files, "1.0", "2.0", "3.0+cpu.1")
	out, err := s.pip("download", "--no-deps", "--index-url", s.URL+"/simple/", "app")
	if err == nil || !strings.Contains(out, "No matching distribution") {
		t.Errorf("%v: %s", err, out)
	}
	s = serve(t, forms(files)["JSON"], files, "2.0")
	if out, err := s.pip("download", "--no-deps", "--index-url", s.URL+"/simple/", "app==2.0"); err == nil {
		t.Errorf("a hidden version was found: %s", out)
	}
	// What pip reports of an install says where each file comes from: the address is the registry's.
	report := filepath.Join(t.TempDir(), "report.json")
	if out, err := s.pip("install", "--dry-run", "--ignore-installed", "--target", t.TempDir(), "--report", report, "--index-url", s.URL+"/simple/", "app"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var found struct {
		Install []struct {
			Download struct {
				URL string `json:"url"`
			} `json:"download_info"`
		}
	}
	if err := json.Unmarshal(data, &found); err != nil || len(found.Install) != 2 ||
		found.Install[0].Download.URL != s.URL+"/files/p/app-3.0%2Bcpu.1-py3-none-any.whl" {
		t.Errorf("%v: %s", err, data)
	}
}

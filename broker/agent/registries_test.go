package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
)

var everyRegistry = Registries{
	NPM:       "https://npm.example/",
	Yarn:      "https://yarn.example/",
	NPMScopes: map[string]string{"@zoo": "http://npm.zoo.example:4873/", "@acme": "https://npm.acme.example/npm/"},
	PyPI:      []string{"https://py.example/simple/", "http://10-1-2-3.address.invalid:8080/simple/"},
	Go:        []string{"https://go.example/", "https://go2.example/x/"},
	GoSum:     "sum.example+01234567+key", GoPrivate: []string{"git.acme.example/*", "x.example"},
	Cargo:      "https://index.example/",
	CargoNamed: map[string]string{"acme": "https://index.acme.example/a/"},
	Apt:        true,
	AptSources: []string{"http://deb.example/debian/ trixie main"},
}

func TestEnvironmentOfRegistries(t *testing.T) {
	want := []string{
		"npm_config_cafile=" + CABundle, "npm_config_fetch_timeout=900000", "npm_config_globalconfig=/etc/ironcurtain/npmrc",
		"pnpm_config_cafile=" + CABundle, "pnpm_config_fetch_timeout=900000",
		"YARN_HTTP_PROXY=" + ProxyURL, "YARN_HTTPS_PROXY=" + ProxyURL, "YARN_HTTP_TIMEOUT=900000",
		"PIP_DEFAULT_TIMEOUT=900", "POETRY_REQUESTS_TIMEOUT=900", "UV_HTTP_TIMEOUT=900", "CARGO_HTTP_TIMEOUT=900",
		"APT_CONFIG=/etc/ironcurtain/apt.conf",
		"GOPROXY=https://go.example/,https://go2.example/x/", "GOSUMDB=sum.example+01234567+key",
		"GONOSUMDB=git.acme.example/*,x.example", "GONOPROXY=none", "GOVCS=*:off",
	}
	if diff := cmp.Diff(want, everyRegistry.Environment()); diff != "" {
		t.Error(diff)
	}
	got := Registries{Go: []string{"https://go.example/"}}.Environment()
	if !slices.Contains(got, "GOSUMDB=off") || !slices.Contains(got, "GONOSUMDB=") {
		t.Errorf("without a checksum database: %q", got)
	}
	if got := (Registries{NPM: "https://npm.example/"}).Environment(); strings.Contains(strings.Join(got, " "), " GO") {
		t.Errorf("without Go: %q", got)
	}
	if got := (Registries{}).Environment(); got != nil {
		t.Errorf("without registries: %q", got)
	}
	names := map[string]bool{}
	for _, v := range append(Environment(), everyRegistry.Environment()...) {
		name, _, _ := strings.Cut(v, "=")
		if names[name] {
			t.Errorf("%s is set twice", name)
		}
		names[name] = true
	}
}

func TestFilesOfRegistries(t *testing.T) {
	got := map[string]string{}
	for _, f := range everyRegistry.SystemFiles() {
		if !f.Orientation || f.Mode != 0o444 || strings.Contains(f.Path, "/") {
			t.Errorf("%s: %+v", f.Path, f)
		}
		got[f.Path+" "+f.Target] = string(f.Data)
	}
	for _, f := range everyRegistry.HomeFiles() {
		if f.Orientation || f.Mode != 0o600 || !f.Keep {
			t.Errorf("%s: %+v", f.Path, f)
		}
		got["~/"+f.Path] = string(f.Data)
	}
	npmrc := "registry=https://npm.example/\n@acme:registry=https://npm.acme.example/npm/\n@zoo:registry=http://npm.zoo.example:4873/\n"
	want := map[string]string{
		"npmrc ":             npmrc,
		"yarnrc /etc/yarnrc": "registry \"https://yarn.example/\"\nnetwork-timeout 900000\n",
		"pip.conf /etc/pip.conf": `[global]
index-url = https://py.example/simple
extra-index-url =
    http://10-1-2-3.address.invalid:8080/simple
trusted-host =
    10-1-2-3.address.invalid:8080
`,
		"uv.toml /etc/uv/uv.toml": `[[index]]
url = "https://py.example/simple"
default = true
[[index]]
url = "http://10-1-2-3.address.invalid:8080/simple"
`,
		"cargo.toml /.cargo/config.toml": `[source.crates-io]
replace-with = "ironcurtain"
[source.ironcurtain]
registry = "sparse+https://index.example/"
[registries."acme"]
index = "sparse+https://index.acme.example/a/"
`,
		"apt.conf ": `Dir::State "/home/codespace/.apt/state/";
Dir::State::status "/home/codespace/.apt/dpkg/status";
Dir::Cache "/home/codespace/.apt/cache/";
Dir::Log "/home/codespace/.apt/log/";
Dir::Bin::dpkg "/usr/local/bin/ironcurtain-mux-bridge";
DPkg::Options:: "dpkg";
Acquire::http::Proxy "` + ProxyURL + `/";
Acquire::https::Proxy "` + ProxyURL + `/";
Acquire::https::CAInfo "` + CABundle + `";
Acquire::http::Timeout "900";
Acquire::https::Timeout "900";
Dir::Etc::sourcelist "/etc/ironcurtain/apt.list";
Dir::Etc::sourceparts "-";
`,
		"apt.list ":                           "deb [trusted=yes] http://deb.example/debian/ trixie main\n",
		"~/.apt/state/lists/partial/.keep":    "",
		"~/.apt/log/.keep":                    "",
		"~/.apt/cache/archives/partial/.keep": "",
		"~/.npmrc":                            madeByUs + "\n" + npmrc,
		"~/.yarnrc.yml": madeByUs + `
npmRegistryServer: "https://yarn.example/"
npmScopes:
  "acme":
    npmRegistryServer: "https://npm.acme.example/npm/"
  "zoo":
    npmRegistryServer: "http://npm.zoo.example:4873/"
unsafeHttpWhitelist:
  - "npm.zoo.example"
`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if files, home := (Registries{}).SystemFiles(), (Registries{}).HomeFiles(); files != nil || home != nil {
		t.Errorf("without registries: %v, %v", files, home)
	}
	// Cargo refuses its own address as a replacement, so there is none of it.
	if files := (Registries{PyPI: []string{"https://py.example/"}}).SystemFiles(); len(files) != 2 {
		t.Errorf("of Python alone: %+v", files)
	}
}

func TestContainerAddress(t *testing.T) {
	for base, want := range map[string]string{
		"https://npm.example/a/":         "https://npm.example/a/",
		"https://npm.example:4873/":      "https://npm.example:4873/",
		"http://10.1.2.3/simple/":        "http://10-1-2-3.address.invalid/simple/",
		"http://127.0.0.1:4873/":         "http://127-0-0-1.address.invalid:4873/",
		"http://[::1]:4873/":             "http://0000-0000-0000-0000-0000-0000-0000-0001.address.invalid:4873/",
		"https://[fd12::a]/x/":           "https://fd12-0000-0000-0000-0000-0000-0000-000a.address.invalid/x/",
		"https://[::ffff:10.1.2.3]/":     "https://10-1-2-3.address.invalid/",
		"http://LocalHost:80/":           "http://localhost.address.invalid:80/",
		"http://npm.localhost/":          "http://npm.localhost.address.invalid/",
		"https://localhost.example/":     "https://localhost.example/",
		"https://10.1.2.3.example/":      "https://10.1.2.3.example/",
		"https://10-1-2-3.example/%2fx/": "https://10-1-2-3.example/%2fx/",
		"npm.example":                    "",
		"":                               "",
	} {
		t.Run(base, func(t *testing.T) {
			if got, err := ContainerAddress(base); got != want || (err == nil) != (want != "") {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
}

// The programs read of the files what is meant, and a project's own choice counts more.
func TestToolsUnderstandTheFiles(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	for _, f := range everyRegistry.SystemFiles() {
		if err := os.WriteFile(filepath.Join(dir, f.Path), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(env string, argv ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Dir, cmd.Env = home, append(os.Environ(), env, "NPM_CONFIG_USERCONFIG="+home+"/none", "PIP_DISABLE_PIP_VERSION_CHECK=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v", argv, err)
		}
		return strings.TrimSpace(string(out))
	}
	npm := "npm_config_globalconfig=" + dir + "/npmrc"
	for key, want := range map[string]string{"registry": "https://npm.example/", "@acme:registry": "https://npm.acme.example/npm/"} {
		if got := run(npm, "npm", "config", "get", key); got != want {
			t.Errorf("npm: %s is %q", key, got)
		}
	}
	for _, f := range []struct{ name, text string }{{"package.json", "{}"}, {".npmrc", "registry=https://project.example/\n"}} {
		if err := os.WriteFile(filepath.Join(home, f.name), []byte(f.text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := run(npm, "npm", "config", "get", "registry"); got != "https://project.example/" {
		t.Errorf("npm in a project: %q", got)
	}
	settings := run("PIP_CONFIG_FILE="+dir+"/pip.conf", "pip3", "config", "list")
	for _, want := range []string{"global.index-url='https://py.example/simple'", `global.extra-index-url='\nhttp://10-1-2-3.address.invalid:8080/simple'`} {
		if !strings.Contains(settings, want) {
			t.Errorf("pip has the settings %s, and not %s", settings, want)
		}
	}
	if got := run("APT_CONFIG="+dir+"/apt.conf", "apt-config", "dump", "--format", "%v%n", "Dir::Bin::dpkg"); got != Bridge {
		t.Errorf("apt: %q", got)
	}
	for _, name := range []string{"uv.toml", "cargo.toml"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		var tree map[string]any
		if err == nil {
			err = toml.Unmarshal(data, &tree)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

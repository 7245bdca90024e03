package docker

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// What a person names comes before what the environment says.
func TestChosenEngine(t *testing.T) {
	home := shortDir(t)
	config := filepath.Join(home, ".docker")
	writeContextMeta(t, config, "build-box", `{"Name":"build-box","Endpoints":{"docker":{"Host":"unix:///box.sock"}}}`)
	writeContextMeta(t, config, "far", `{"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:2375"}}}`)
	env := map[string]string{"DOCKER_HOST": "unix:///host.sock", "DOCKER_CONTEXT": "build-box", "XDG_RUNTIME_DIR": home}
	getenv := func(k string) string { return env[k] }
	for name, c := range map[string]struct {
		choice          Choice
		address, source string
		refused         string
	}{
		"the flag":              {Choice{Flag: "build-box", Config: "unix:///other"}, "unix:///box.sock", "context build-box (--engine)", ""},
		"the configuration":     {Choice{Config: "unix:///other"}, "unix:///other", "engine.use in config.json", ""},
		"nothing":               {Choice{}, "unix:///host.sock", "DOCKER_HOST", ""},
		"a path":                {Choice{Flag: "/run/x.sock"}, "unix:///run/x.sock", "--engine", ""},
		"a path below home":     {Choice{Config: "~/x.sock"}, "unix://" + home + "/x.sock", "engine.use in config.json", ""},
		"https":                 {Choice{Flag: "https://far"}, "https://far", "--engine", ""},
		"plain TCP":             {Choice{Flag: "tcp://127.0.0.1:2375"}, "tcp://127.0.0.1:2375", "--engine", ""},
		"far":                   {Choice{Flag: "tcp://10.0.0.1:2375"}, "", "", "10.0.0.1 is another machine"},
		"a far context":         {Choice{Config: "far"}, "", "", "far is another machine"},
		"far, and wanted":       {Choice{Flag: "far", Insecure: true}, "tcp://far:2375", "context far (--engine)", ""},
		"no such context":       {Choice{Flag: "gone"}, "", "", `context "gone" does not exist`},
		"no name of a context":  {Choice{Flag: "-x"}, "", "", "is not the name of a docker context"},
		"ssh":                   {Choice{Flag: "ssh://me@far"}, "ssh://me@far", "--engine", ""},
		"a path that goes back": {Choice{Flag: "../x.sock"}, "", "", "not an absolute path"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := c.choice.Resolve(getenv, home)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) || fault.Hint(err) == "" {
					t.Errorf("error %v, to do: %q", err, fault.Hint(err))
				}
				return
			}
			if err != nil || e.Address != c.address || e.Source != c.source {
				t.Errorf("got %q from %q, %v; want %q from %q", e.Address, e.Source, err, c.address, c.source)
			}
		})
	}
	if all := Contexts(getenv, home); !slices.Equal(all, []Context{{"build-box", "unix:///box.sock"}, {"far", "tcp://far:2375"}}) {
		t.Errorf("contexts: %v", all)
	}
}

// The default context is what is found where engines usually listen, whatever the environment
// says.
func TestChosenDefault(t *testing.T) {
	home := shortDir(t)
	listen(t, filepath.Join(home, ".orbstack/run/docker.sock"))
	getenv := func(k string) string { return map[string]string{"DOCKER_HOST": "unix:///host.sock"}[k] }
	e, err := Choice{Flag: "default"}.Resolve(getenv, home)
	if err != nil || e != known(getenv, home) || !isSocket(e.SocketPath()) {
		t.Errorf("found %+v, %v", e, err)
	}
}

// DOCKER_HOST hides a context, and it is said which; but none that leads to the same engine.
func TestHiddenContext(t *testing.T) {
	home := shortDir(t)
	config := filepath.Join(home, ".docker")
	writeContextMeta(t, config, "colima", `{"Name":"colima","Endpoints":{"docker":{"Host":"unix:///colima.sock"}}}`)
	write(t, filepath.Join(config, "config.json"), `{"currentContext":"colima"}`)
	for name, c := range map[string]struct{ host, context, hides string }{
		"the current one":     {"unix:///a.sock", "", "context colima"},
		"a missing one":       {"unix:///a.sock", "gone", "context gone (DOCKER_CONTEXT)"},
		"the same engine":     {"unix:///colima.sock", "", ""},
		"the default":         {"unix:///a.sock", "default", ""},
		"without DOCKER_HOST": {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"DOCKER_HOST": c.host, "DOCKER_CONTEXT": c.context}
			e, err := Choice{}.Resolve(func(k string) string { return env[k] }, home)
			if err != nil || e.Hides != c.hides {
				t.Errorf("hides %q, %v; want %q", e.Hides, err, c.hides)
			}
		})
	}
}

// Of the sockets that exist, the first counts that may be used.
func TestFirstOfTheKnownSockets(t *testing.T) {
	dir := shortDir(t)
	first, second, gone := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	listen(t, first)
	listen(t, second)
	list := func(paths ...string) (all []namedSocket) {
		for _, p := range paths {
			all = append(all, namedSocket{p, "engine " + filepath.Base(p)})
		}
		return all
	}
	for name, c := range map[string]struct {
		list   []namedSocket
		source string
	}{
		"the first":    {list(gone, first, second), "engine a"},
		"no other one": {list(gone), "engine c"},
	} {
		t.Run(name, func(t *testing.T) {
			if e := firstOf(c.list); e.Source != c.source {
				t.Errorf("chosen: %+v", e)
			}
		})
	}
	if os.Getuid() == 0 {
		return // root may use every socket
	}
	if err := os.Chmod(first, 0); err != nil {
		t.Fatal(err)
	}
	if e := firstOf(list(first, second)); e.Source != "engine b" {
		t.Errorf("chosen: %+v", e)
	}
	if e := firstOf(list(first)); e.Source != "engine a" {
		t.Errorf("with no other one: %+v", e)
	}
}

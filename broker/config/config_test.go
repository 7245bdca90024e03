package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
)

func TestMissingFileIsTheDefault(t *testing.T) {
	c, err := config.Load(filepath.Join(t.TempDir(), "config.json"))
	if err != nil || !reflect.DeepEqual(c, config.Default()) {
		t.Fatalf("%+v, %v", c, err)
	}
}

func TestParse(t *testing.T) {
	c, err := config.Parse("config.json", []byte(`{"agent":"shell","resources":{"cpus":1.5}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Agent, want.Resources.CPUs = "shell", 1.5
	if !reflect.DeepEqual(c, want) {
		t.Fatalf("got %+v", c)
	}
}

func TestErrorsNameThePlace(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"unknown name":   {"{\n \"agent\": \"shell\",\n \"colour\": 1\n}", "config.json:3: /colour: nobody knows"},
		"unknown nested": {"{\"resources\": {\n\"ram\": 1}}", "config.json:2: /resources/ram"},
		"out of range":   {`{"escalationTimeoutSeconds": 5}`, "config.json:1: /escalationTimeoutSeconds"},
		"wrong type":     {`{"agent": 7}`, "/agent"},
		"written twice":  {"{\"agent\": \"shell\",\n\"agent\": \"shell\"}", "config.json:2"},
		"no JSON":        {"{\n,", "config.json:2"},
		"trailing":       {"{} {}", "config.json:1"},
		"not an object":  {"[]", "config.json"},
		// Nothing depends on the directory somebody happens to be in.
		"relative policy":       {`{"policy": "policy"}`, "/policy: "},
		"relative protected":    {`{"protected": ["/a", "b"]}`, "/protected/1: "},
		"provider without name": {`{"providers": [{"hosts": []}]}`, "/providers/0"},
		"unjudged body":         {`{"providers": [{"name": "x", "hosts": [{"name": "a.b", "endpoints": [{"method": "POST", "path": "/x", "body": "any"}]}]}]}`, "/providers/0/hosts/0/endpoints/0/body"},
		"base URL of a file":    {`{"providers": [{"name": "x", "hosts": [{"name": "a.b", "baseUrl": "file:///x"}]}]}`, "/providers/0/hosts/0/baseUrl"},
		"relative agent policy": {`{"agents": {"codex": {"policy": "p"}}}`, "/agents/codex/policy: "},
		"another code mode":     {`{"agents": {"codex": {"codeMode": "always"}}}`, "/agents/codex/codeMode: "},
		"agent without image":   {`{"agents": {"mine": {"policy": "/p", "title": "x"}}}`, "/agents/mine: "},
		"relative reachable":    {`{"reachable": ["./b"]}`, "/reachable/0: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Parse("config.json", []byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want it to contain %q", err, test.want)
			}
		})
	}
}

func TestUnreadableFileIsAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "config.json")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(dir); err == nil {
		t.Fatal("a directory was read as configuration")
	}
}

func TestWhatIsNoFileIsAnError(t *testing.T) {
	link := filepath.Join(t.TempDir(), "config.json")
	if err := os.Symlink("absent.json", link); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "config.json")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{link: `is a link to "absent.json", which does not exist`, pipe: "is no regular file"} {
		_, err := config.Load(path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// The schema's defaults and agents are what the code does.
func TestSchemaTellsTheTruth(t *testing.T) {
	var schema struct {
		Properties map[string]struct {
			Default    any
			Examples   []string
			Properties map[string]struct{ Default any }
		}
	}
	if err := json.Unmarshal(config.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	var actual map[string]any
	if err := json.Unmarshal(encoded, &actual); err != nil {
		t.Fatal(err)
	}
	for name, p := range schema.Properties {
		if p.Default != nil && !reflect.DeepEqual(p.Default, actual[name]) {
			t.Errorf("%s: schema says %v, code does %v", name, p.Default, actual[name])
		}
	}
	var names []string
	for _, a := range agent.Builtin().All() {
		names = append(names, a.Name)
	}
	if got := schema.Properties["agent"].Examples; !reflect.DeepEqual(got, names) {
		t.Errorf("schema knows the agents %v, code %v", got, names)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"agent":"shell"}`))
	f.Add([]byte(`{"a":{"a":{}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := config.Parse("config.json", data)
		if err == nil && (c.EscalationTimeoutSeconds < 30 || c.MaxSessions < 1) {
			t.Fatalf("accepted %q as %+v", data, c)
		}
	})
}

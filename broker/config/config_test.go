package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/alone"
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

// A config.json of the current directory is no part of the schema, whatever that directory is called.
// The schema is compiled once in a process, so the test needs a process of its own.
func TestCurrentDirectoryDoesNotMatter(t *testing.T) {
	if !alone.Run(t) {
		return
	}
	dir := filepath.Join(t.TempDir(), "my wörk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	anything := `{"$defs":{"command":{},"host":{},"mode":{},"packageRule":{},"packageSource":{},"provider":{},"server":{}}}`
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(anything), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if _, err := config.Parse("config.json", []byte(`{"mcpServers":{"mine":{"command":"tickets"}}}`)); err != nil {
		t.Errorf("a good configuration: %v", err)
	}
	if _, err := config.Parse("config.json", []byte(`{"mcpServers":{"mine":{"command":"tickets","agents":[]}}}`)); err == nil {
		t.Error("a bad configuration is accepted")
	}
}

// A length of time may be text with a unit of its own.
func TestLengthsOfTimeMayBeText(t *testing.T) {
	c, err := config.Parse("config.json", []byte(`{"escalationTimeoutSeconds": "2 minutes", "awayHours": "2d", "daemonIdleMinutes": "1h30m", "receiptSeconds": 30,
		"keepSessionsDays": "2 weeks", "budget": {"minutes": "1 day and 12 hours"}, "agents": {"mine": {"image": "x", "command": ["x"], "submit": {"pauseMillis": "2s"}}},
		"registries": {"quarantineHours": {"npm": "3d", "go": 1}, "rules": [{"name": "x", "then": "ask"}, {"youngerThanHours": "1w", "then": "ask"}]},
		"mcpServers": {"x": {"command": "x", "env": {"awayHours": "3d"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := []int{
		c.EscalationTimeoutSeconds, c.AwayHours, c.DaemonIdleMinutes, c.ReceiptSeconds, c.KeepSessionsDays, c.Budget.Minutes, c.Agents["mine"].Submit.PauseMillis,
		c.Registries.QuarantineHours["npm"], c.Registries.QuarantineHours["go"], c.Registries.Rules[1].YoungerThanHours,
	}
	if want := []int{120, 48, 90, 30, 14, 2160, 2000, 72, 1, 168}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if !strings.Contains(string(c.MCPServers["x"]), `"3d"`) {
		t.Errorf("a server's variable became %s", c.MCPServers["x"])
	}
}

// Every number of the schema whose name has a unit takes text, too.
func TestSchemaNamesEveryLengthOfTime(t *testing.T) {
	unit := regexp.MustCompile(`(?i)(seconds|minutes|hours|days|millis)$`)
	var look func(name string, v any)
	look = func(name string, v any) {
		of, _ := v.(map[string]any)
		if of["type"] == "integer" && unit.MatchString(name) {
			t.Errorf("%s takes numbers only", name)
		}
		for inner, one := range of {
			look(inner, one)
		}
	}
	var schema any
	if err := json.Unmarshal(config.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	look("", schema)
}

func TestErrorsNameThePlace(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"unknown name":    {"{\n \"agent\": \"shell\",\n \"colour\": 1\n}", "config.json:3: /colour: there is no setting of this name"},
		"unknown nested":  {"{\"resources\": {\n\"ram\": 1}}", "config.json:2: /resources/ram"},
		"out of range":    {`{"escalationTimeoutSeconds": 5}`, "config.json:1: /escalationTimeoutSeconds"},
		"no such time":    {"{\"budget\": {\n\"minutes\": \"soon\"}}", `config.json:2: /budget/minutes: "soon" is not a length of time`},
		"part of an hour": {`{"registries": {"quarantineHours": {"npm": "90m"}}}`, `/registries/quarantineHours/npm: "90m" is no whole multiple of 1h`},
		"time too short":  {`{"escalationTimeoutSeconds": "5s"}`, "config.json:1: /escalationTimeoutSeconds: 5 is too small"},
		"wrong type":      {`{"agent": 7}`, "/agent"},
		"written twice":   {"{\"agent\": \"shell\",\n\"agent\": \"shell\"}", "config.json:2"},
		"no JSON":         {"{\n,", "config.json:2"},
		"trailing":        {"{} {}", "config.json:1"},
		"not an object":   {"[]", "config.json"},
		// Nothing depends on the directory somebody happens to be in.
		"relative policy":       {`{"policy": "policy"}`, "/policy: "},
		"relative protected":    {`{"protected": ["/a", "b"]}`, "/protected/1: "},
		"provider without name": {`{"providers": [{"hosts": []}]}`, "/providers/0"},
		"unjudged body":         {`{"providers": [{"name": "x", "hosts": [{"name": "a.b", "endpoints": [{"method": "POST", "path": "/x", "body": "any"}]}]}]}`, "/providers/0/hosts/0/endpoints/0/body"},
		"base URL of a file":    {`{"providers": [{"name": "x", "hosts": [{"name": "a.b", "baseUrl": "file:///x"}]}]}`, "/providers/0/hosts/0/baseUrl"},
		"relative agent policy": {`{"agents": {"codex": {"policy": "p"}}}`, "/agents/codex/policy: "},
		"another code mode":     {`{"agents": {"codex": {"codeMode": "always"}}}`, "/agents/codex/codeMode: "},
		"agent without image":   {`{"agents": {"mine": {"policy": "/p", "title": "x"}}}`, "/agents/mine: "},
		"copies and sockets":    {"{\"engine\": {\"way\": \"sockets\",\n\"files\": \"copied\"}}", "config.json:2: /engine/files: \"copied\" does not go with the way \"sockets\": mounted sockets are files of this machine"},
		"another kind of files": {`{"engine": {"files": "punched"}}`, "/engine/files"},
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

// An error shows its line with a mark below the fault, and the name that was probably meant.
func TestErrorsShowTheLine(t *testing.T) {
	long := strings.Repeat(" ", 90) + `"comandKey": "ctrl+b"`
	for name, test := range map[string]struct{ text, cause, excerpt string }{
		"a name":             {"{\n\t\"agnet\": \"shell\"\n}", `did you mean "agent"?`, "  2 |  \"agnet\": \"*****\"\n    |  ^^^^^^^\n"},
		"a nested name":      {`{"budget": {"token": 1}}`, `did you mean "tokens"?`, "  1 | {\"budget\": {\"token\": 1}}\n    |             ^^^^^^^\n"},
		"a name of a $ref":   {`{"agents": {"mine": {"image": "x", "command": ["x"], "titel": "y"}}}`, `did you mean "title"?`, "^^^^^^^\n"},
		"nothing like it":    {`{"zzzzzzzz": 1}`, "there is no setting of this name", "  1 | {\"zzzzzzzz\": 1}\n    |  ^^^^^^^^^^\n"},
		"also a value":       {"{\"agent\": \"theme\",\n\"theme\": 7}", "/theme", "  2 | \"theme\": 7}\n    | ^^^^^^^\n"},
		"no JSON":            {"{\n  \"agent\" \"shell\"\n}", "", "  2 |   \"*****\" \"*****\"\n    |           ^\n"},
		"cut off":            {"{\"agent\": \"shell\"", "", "  1 | {\"agent\": \"*****\"\n    |                  ^\n"},
		"a long line":        {"{" + long + "}", `did you mean "commandKey"?`, "\"comandKey\": \"******\"}\n    | " + strings.Repeat(" ", 50) + "^^^^^^^^^^^\n"},
		"a key beside it":    {`{"mcpServers": {"a": {"env": {"TOKEN": "ghp_0123456789abcdef"}}}, "agnet": 1}`, "", `"` + strings.Repeat("*", 20) + `"}}}, "agnet"`},
		"a key cut off":      {`{"mcpServers": {"a": {"env": {"TOKEN": "ghp_0123456789abcdef`, "", strings.Repeat("*", 20)},
		"what hides on it":   {"{\"a\x1b[2Jgent\": 1}", "", "a?[2Jgent"},
		"another byte there": {"{\"policy\": \"/é\", \"agnet\": 1}", `"agent"`, "***\", \"agnet\": 1}\n    |                   ^^^^^^^\n"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Parse("config.json", []byte(test.text))
			var e *config.Error
			if !errors.As(err, &e) || !strings.Contains(e.Error(), test.cause) || !strings.Contains(e.Excerpt(), test.excerpt) {
				t.Errorf("%v\n%s\nwant %s\n%s", err, e.Excerpt(), test.cause, test.excerpt)
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
	for path, want := range map[string]string{link: `is a link to "absent.json", which does not exist`, pipe: "is not a regular file"} {
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
		if e := (*config.Error)(nil); errors.As(err, &e) && strings.ContainsFunc(e.Excerpt(), func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }) {
			t.Fatalf("an excerpt of %q is %q", data, e.Excerpt())
		}
	})
}

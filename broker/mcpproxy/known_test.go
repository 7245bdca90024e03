package mcpproxy

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
)

// oddTools are definitions whose bytes another encoder would write differently.
const oddTools = `[{"name":"read_text_file","title":"<b>","description":"Reads \u00e9\u2028 & more","inputSchema":{ "type" : "object","$schema":"a\u003cb<é \ud83d\ude00"},` +
	`"annotations":{"readOnlyHint":true , "x":1.0},"outputSchema":{"type": "object"}},{"name":"write_file","inputSchema":{"type":"object"}}]`

// process is a proxy of a process that keeps its lists in a directory. Nothing else is left of
// earlier ones.
func process(t *testing.T, dir, version, tools string) *harness {
	t.Helper()
	return newHarness(t, func(c *Config) {
		c.Known = KnownIn(dir, slog.New(slog.DiscardHandler))
		c.Servers[0].Version = version
		c.Servers[0].Env[toolsVar] = tools
	})
}

// kept are the names of the kept lists.
func kept(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// A process knows the tools that an earlier one has seen of the same version, to the byte, and
// starts the server for a call only. Another version is started, and its list is kept instead.
func TestKnownByAnEarlierProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tools")
	first := process(t, dir, "1", oddTools)
	if !first.started() {
		t.Fatal("a server that nobody knows was not asked for its tools")
	}
	info, err := os.Stat(filepath.Join(dir, "filesystem.json"))
	if err != nil || info.Mode() != 0o600 || !slices.Equal(kept(t, dir), []string{"filesystem.json"}) {
		t.Fatalf("kept %v: %v, %v", kept(t, dir), info, err)
	}
	second := process(t, dir, "1", oddTools)
	a := second.agent()
	a.send(`{"jsonrpc":"2.0","id":9,"method":"tools/list"}`)
	if list := string(a.answerTo("9").Result); list != string(first.proxy.catalog.Load().list) || !strings.Contains(list, "filesystem__read_text_file") {
		t.Errorf("the tools: %s", list)
	}
	if second.started() {
		t.Error("listing the tools has started the server")
	}
	if m := a.call("1", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.isError() || !strings.Contains(m.text(), "done") {
		t.Errorf("a call: %s", m.Result)
	}
	if !slices.EqualFunc(first.proxy.backend("filesystem").tools, second.proxy.backend("filesystem").tools, tool.same) {
		t.Error("the definitions differ")
	}
	if len(kept(t, dir)) != 1 {
		t.Error("the list of a server that has not changed is gone")
	}
	for _, version := range []string{"2", "1"} {
		if !process(t, dir, version, fileTools).started() {
			t.Errorf("version %s uses the list of another one", version)
		}
	}
	if process(t, dir, "1", fileTools).started() {
		t.Error("the version that was learned last is not known")
	}
}

// A server that defines a tool differently when it is started does not get the call. The list is
// not kept any more, and so the next process learns what there is.
func TestKnownListThatDiffers(t *testing.T) {
	for what, now := range map[string]string{
		"description": strings.Replace(fileTools, `"Reads"`, `"Reads, and more"`, 1),
		"schema":      strings.Replace(fileTools, `{"type":"object"}`, `{"type": "object"}`, 1),
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			process(t, dir, "1", fileTools)
			r := process(t, dir, "1", now)
			a := r.agent()
			for _, id := range []string{"1", "2"} {
				if m := a.call(id, "filesystem__read_text_file", `{"path":"/workspace/a"}`); !m.isError() || !strings.Contains(m.text(), "definition changed") {
					t.Errorf("call %s: %s", id, m.Result)
				}
			}
			if n := len(r.forwarded()); n != 0 {
				t.Errorf("%d calls reached the server", n)
			}
			if found := r.decisions(); len(found) != 2 || found[0].Decision != audit.Deny {
				t.Errorf("recorded: %+v", found)
			}
			if m := a.call("3", "filesystem__write_file", `{"path":"/workspace/a","content":"x"}`); m.isError() {
				t.Errorf("a tool that is the same: %s", m.Result)
			}
			if left := kept(t, dir); len(left) != 0 {
				t.Errorf("kept: %v", left)
			}
			next := process(t, dir, "1", now)
			if !next.started() {
				t.Error("the next process has not asked the server")
			}
			if m := next.agent().call("1", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.isError() {
				t.Errorf("a call in the next process: %s", m.Result)
			}
		})
	}
}

// A file that is not as it was written is as good as none, and is replaced.
func TestKnownListThatIsDamaged(t *testing.T) {
	dir := t.TempDir()
	process(t, dir, "1", fileTools)
	path := filepath.Join(dir, "filesystem.json")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, bad := range map[string]string{
		"empty":          "",
		"cut":            string(good[:len(good)-1]),
		"twice":          string(good) + string(good),
		"too large":      string(good) + strings.Repeat(" ", maxList),
		"unknown member": strings.Replace(string(good), `"version"`, `"more":1,"version"`, 1),
		"a name twice":   strings.Replace(string(good), `"version"`, `"version":"1","version"`, 1),
		"no tools":       `{"version":"1","tools":[]}`,
		"no JSON inside": strings.Replace(string(good), `{\"type\":\"object\"}`, `{\"type\":`, 1),
		"JSON inside":    strings.Replace(string(good), `"{\"type\":\"object\"}"`, `{"type":"object"}`, 1),
	} {
		t.Run(what, func(t *testing.T) {
			if bad == string(good) {
				t.Fatal("it is not damaged")
			}
			if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
				t.Fatal(err)
			}
			if !process(t, dir, "1", fileTools).started() {
				t.Error("it was used")
			}
			if now, err := os.ReadFile(path); err != nil || string(now) != string(good) {
				t.Errorf("it was not replaced: %s, %v", now, err)
			}
		})
	}
}

// Nothing is kept of a server whose version nobody can tell, of one of the person's own, and of
// definitions that would come back as others.
func TestListsThatAreNotKept(t *testing.T) {
	for what, change := range map[string]func(s *sandbox.Spec){
		"no version": func(s *sandbox.Spec) { s.Version = "" },
		"own":        func(s *sandbox.Spec) { s.Own = true },
		"too large": func(s *sandbox.Spec) {
			if err := os.WriteFile(filepath.Join(s.Env[stubVar], "tools.json"), []byte(manyTools(400, 8<<10)), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"other bytes": func(s *sandbox.Spec) {
			s.Env[toolsVar] = strings.Replace(fileTools, `"object"`, "\"object\",\"title\":\"\xff\"", 1)
		},
		"no directory": func(s *sandbox.Spec) { s.Name = "no/directory" },
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			r := newHarness(t, func(c *Config) {
				c.Known = KnownIn(dir, slog.New(slog.DiscardHandler))
				c.Servers[0].Version = "1"
				change(&c.Servers[0])
			})
			eventually(t, r.started, "the start of the server")
			r.proxy.AwaitOwn(t.Context())
			if left := kept(t, dir); len(left) != 0 {
				t.Errorf("kept: %v", left)
			}
		})
	}
}

// manyTools are definitions of so many tools, each with a description of that length.
func manyTools(n, length int) string {
	one := `{"name":"t","description":"` + strings.Repeat("x", length) + `","inputSchema":{"type":"object"}}`
	return "[" + strings.Repeat(one+",", n-1) + one + "]"
}

// FuzzKnownList reads what a damaged disk could give: it must not panic, and what is understood
// must be the same once it was written again.
func FuzzKnownList(f *testing.F) {
	var odd []tool
	if err := json.Unmarshal([]byte(oddTools), &odd); err != nil {
		f.Fatal(err)
	}
	good, err := json.Marshal(listOf("1", odd))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"version":"","tools":[{"name":"a","inputSchema":"{}"},{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := decodeList(data)
		if err != nil {
			return
		}
		tools := l.tools("s")
		again, err := json.Marshal(listOf(l.Version, tools))
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeList(again)
		if len(again) > maxList {
			return
		}
		if err != nil || back.Version != l.Version || !slices.EqualFunc(tools, back.tools("s"), tool.same) {
			t.Fatalf("%s became %s, %v", data, again, err)
		}
		for _, one := range tools {
			if _, err := json.Marshal(one); err != nil {
				t.Fatal(err)
			}
		}
	})
}

package compile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/compile"
)

// fetchAnswers makes a model propose rules with a list for the fetch server.
func fetchAnswers(m *script, values ...string) *script {
	r := rule("allow-docs", "allow", object{"server": []string{"fetch"}, "domains": object{"roles": []string{"fetch-url"}, "allowed": []string{"@docs"}}})
	m.answers["fetch rules"] = []string{encode(object{"rules": []object{r}, "listDefinitions": []object{{
		"name": "docs", "type": "domains", "principle": "p", "generationPrompt": "documentation", "requiresMcp": false,
	}}})}
	m.answers["fetch scenarios"] = []string{scenarios(
		scenario("http_fetch", "allow", object{"url": "https://go.dev/"}), scenario("http_fetch", "deny", object{"url": "https://example.com/"}),
		scenario("http_fetch", "deny", object{"url": "http://go.dev/"}),
	)}
	m.answers["docs values"] = values
	return m
}

// compiled compiles into a directory, as the command does.
func compiled(t *testing.T, m *script, dir string, o compile.Options) (*compile.Result, error) {
	t.Helper()
	var err error
	if o.Previous, err = compile.ReadPrevious(dir); err != nil {
		return nil, err
	}
	if o.Servers == nil {
		o.Servers = []string{"filesystem", "fetch"}
	}
	o = options(t, o)
	m.keys, m.asked = nil, nil
	r, err := compile.Run(t.Context(), m, o)
	if err != nil {
		return nil, err
	}
	return r, r.Write(dir, o.Annotations, o.Previous, o.Now)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
		out = append(out, e.Name())
	}
	return out
}

// While nothing has changed, the model is not asked again, but the rules are tested again.
// A compiled policy that a person changed by hand is refused.
func TestCompilingAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "generated")
	m := fetchAnswers(good(), encode(object{"values": []string{"go.dev", "pkg.go.dev"}}))
	r, err := compiled(t, m, dir, compile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{compile.PolicyFile, compile.ListsFile, compile.ScenariosFile, compile.AnnotationsFile}) {
		t.Errorf("files %v", got)
	}
	c, l, err := policy.LoadDir(dir)
	if err != nil || c.Digest() != r.Policy.Verified || c.Verified == "" || len(c.Servers) != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
	if docs, _ := l.Get("docs"); !slices.Equal(docs.Effective(), []string{"go.dev", "pkg.go.dev"}) {
		t.Errorf("%+v", docs)
	}
	r, err = compiled(t, m, dir, compile.Options{})
	if err != nil || len(m.keys) != 0 || !r.Servers[0].Kept || !r.Servers[1].Kept || len(r.Scenarios) != 6 {
		t.Errorf("unchanged: asked %v, %v", m.keys, err)
	}
	if _, err = compiled(t, m, dir, compile.Options{Force: true}); err != nil || len(m.keys) != 5 {
		t.Errorf("forced: asked %v, %v", m.keys, err)
	}
	other, err := compile.ParseConstitution([]byte("Documents may be read, and the documentation."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = compiled(t, m, dir, compile.Options{Constitution: other}); err != nil || !slices.Contains(m.keys, "fetch rules") || slices.Contains(m.keys, "docs values") {
		t.Errorf("another constitution: asked %v, %v", m.keys, err)
	}
	r, err = compiled(t, m, dir, compile.Options{Servers: []string{"filesystem"}})
	if err != nil || len(r.Policy.Servers) != 2 || !r.Servers[0].Stale || r.Servers[1].Stale {
		t.Errorf("one server: %v, asked %v", err, m.keys)
	}

	file := filepath.Join(dir, compile.PolicyFile)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(data), `"within": "~/Documents"`, `"within": "~"`, 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil || changed == string(data) {
		t.Fatal(err)
	}
	if _, _, err := policy.LoadDir(dir); err == nil || !strings.Contains(err.Error(), "not those that were verified") {
		t.Errorf("changed by hand: %v", err)
	}
	if _, err := compile.ReadPrevious(dir); err == nil {
		t.Error("rules that were changed by hand count as verified")
	}
}

// Compiled rules that no longer pass are compiled again. The lists' file is removed when
// no rule uses a list any more.
func TestCompilingAgainWhatNoLongerPasses(t *testing.T) {
	dir := t.TempDir()
	m := fetchAnswers(good(), encode(object{"values": []string{"go.dev"}}))
	if _, err := compiled(t, m, dir, compile.Options{}); err != nil {
		t.Fatal(err)
	}
	l, err := compile.ReadLists(dir)
	if err != nil {
		t.Fatal(err)
	}
	if l.Values["docs"], err = compile.Remove(l.Definitions[0], l.Values["docs"], "go.dev"); err != nil {
		t.Fatal(err)
	}
	if err := l.Write(time.Now()); err != nil {
		t.Fatal(err)
	}
	m.answers["fetch rules"] = []string{encode(object{"rules": []object{rule("escalate-web", "escalate", object{
		"server": []string{"fetch"}, "roles": []string{"fetch-url"},
	})}, "listDefinitions": []object{}})}
	m.answers["fetch scenarios"] = []string{scenarios(scenario("http_fetch", "escalate", object{"url": "https://go.dev/"}),
		scenario("http_fetch", "escalate", object{"url": "https://go.dev/a"}), scenario("http_fetch", "escalate", object{"url": "https://go.dev/b"}))}
	r, err := compiled(t, m, dir, compile.Options{})
	if err != nil || r.Servers[0].Kept || !r.Servers[1].Kept {
		t.Errorf("%v, asked %v", err, m.keys)
	}
	if got := names(t, dir); slices.Contains(got, compile.ListsFile) {
		t.Errorf("files %v", got)
	}
}

// When one server fails, the others keep their rules, and the server's tools are denied.
func TestOneServerFails(t *testing.T) {
	dir := t.TempDir()
	m := fetchAnswers(good(), encode(object{"values": []string{"com"}}), encode(object{"values": []string{"*"}}), encode(object{"values": []string{"localhost"}}))
	r, err := compiled(t, m, dir, compile.Options{})
	if err != nil || len(r.Policy.Skipped) != 1 || r.Policy.Skipped[0].Name != "fetch" || !strings.Contains(r.Policy.Skipped[0].Reason, `list docs: 3 answers of the model were refused, the last because value 1, "localhost"`) {
		t.Fatalf("%+v, %v", r, err)
	}
	c, _, err := policy.LoadDir(dir)
	if err != nil || len(c.Rules) != 2 || len(c.Skipped) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

// Rules of the same name are renamed; different lists of the same name are refused.
func TestJoining(t *testing.T) {
	m := good()
	git := rule("escalate-reads", "escalate", object{"server": []string{"git"}, "roles": []string{"read-path"}})
	m.answers["git rules"] = []string{rules(git)}
	m.answers["git scenarios"] = []string{scenarios(scenario("git_status", "escalate", object{"path": "~/Documents"}),
		scenario("git_log", "escalate", object{"path": "/etc"}), scenario("git_init", "deny", object{"path": "/etc/x"}))}
	r, err := compiled(t, m, t.TempDir(), compile.Options{Servers: []string{"filesystem", "git"}})
	if err != nil || r.Policy.Rules[2].Name != "git-escalate-reads" {
		t.Fatalf("%+v, %v", r, err)
	}
	withDocs := func(server, prompt string) string {
		domain := object{"server": []string{server}, "domains": object{"roles": []string{"git-remote-url"}, "allowed": []string{"@docs"}}}
		return encode(object{"rules": []object{git, rule("allow-docs", "allow", domain)}, "listDefinitions": []object{{
			"name": "docs", "type": "domains", "principle": "p", "generationPrompt": prompt, "requiresMcp": false,
		}}})
	}
	m = fetchAnswers(m, encode(object{"values": []string{"go.dev"}}))
	m.answers["git rules"] = []string{withDocs("git", "something else")}
	r, err = compiled(t, m, t.TempDir(), compile.Options{Servers: []string{"filesystem", "git", "fetch"}})
	if err != nil || len(r.Policy.Skipped) != 1 || !strings.Contains(r.Policy.Skipped[0].Reason, "list docs is defined differently") {
		t.Errorf("%+v, %v", r, err)
	}
	m.answers["git rules"] = []string{withDocs("git", "documentation")}
	r, err = compiled(t, m, t.TempDir(), compile.Options{Servers: []string{"filesystem", "git", "fetch"}})
	if err != nil || len(r.Policy.Skipped) != 0 || len(r.Policy.Lists) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Write refuses a directory of other files, files that have changed meanwhile, and a
// directory that another process writes to.
func TestWritingWithCare(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "letter.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := compile.Foreign(dir); err == nil || !strings.Contains(err.Error(), "letter.txt") {
		t.Errorf("%v", err)
	}
	m := good()
	only := compile.Options{Servers: []string{"filesystem"}}
	if _, err := compiled(t, m, dir, only); err != nil {
		t.Fatal(err)
	}
	if foreign, err := compile.Foreign(dir); err != nil || !slices.Equal(foreign, []string{"letter.txt"}) {
		t.Errorf("%v, %v", foreign, err)
	}
	o := options(t, only)
	r, err := compile.Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	if o.Previous, err = compile.ReadPrevious(dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, compile.PolicyFile)
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var indented json.RawMessage = was
	again, err := json.MarshalIndent(indented, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, again, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Write(dir, o.Annotations, o.Previous, o.Now); err == nil || !strings.Contains(err.Error(), "was changed meanwhile") {
		t.Errorf("%v", err)
	}
	if got := names(t, dir); len(got) != 4 {
		t.Errorf("files %v", got)
	}
}

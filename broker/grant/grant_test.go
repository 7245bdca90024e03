package grant

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// place is a person's machine with a repository in the sandbox.
type place struct {
	t                *testing.T
	engine           *policy.Engine
	sandbox, outside string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, sandbox: root + "/work", outside: root + "/outside"}
	for _, dir := range []string{p.sandbox, p.outside, root + "/home"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.git("init", "-q")
	p.git("remote", "add", "origin", "https://github.com/me/mine.git")
	compiled, annotations := policy.Default()
	p.engine, err = policy.New(policy.Config{
		Policy: compiled, Annotations: annotations, Sandbox: p.sandbox, Mount: "/workspace", Home: root + "/home",
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *place) git(args ...string) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "git", append([]string{"-C", p.sandbox}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

func (p *place) call(tool, arguments string, values ...any) Call {
	p.t.Helper()
	server, name, _ := strings.Cut(tool, "/")
	v := p.engine.Evaluate(policy.Call{Server: server, Tool: name, Arguments: fmt.Appendf(nil, arguments, values...)})
	if v.Decision == policy.Deny {
		p.t.Fatalf("%s %s is denied by %s: %s", tool, fmt.Sprintf(arguments, values...), v.Rule, v.Reason)
	}
	return CallOf("s", server, name, v)
}

func (p *place) offer(c Call, scope Scope) Offer {
	p.t.Helper()
	for _, o := range Offers(c) {
		if o.Scope == scope {
			return o
		}
	}
	p.t.Fatalf("no %s among %+v", scope, Offers(c))
	return Offer{}
}

func scopes(c Call) string {
	var names []string
	for _, o := range Offers(c) {
		names = append(names, string(o.Scope))
	}
	return strings.Join(names, " ")
}

// A push that was granted goes to that remote with those flags; a remote of the
// same name that leads elsewhere by now, another flag and another branch ask.
func TestRemoteAndItsFlags(t *testing.T) {
	p := newPlace(t)
	p.git("remote", "add", "theirs", "https://github.com/them/theirs.git")
	push := p.call("git/git_push", `{"path":%q,"remote":"origin"}`, p.sandbox)
	o := p.offer(push, Remote)
	if !strings.Contains(o.Text, "https://github.com/me/mine.git") {
		t.Errorf("the text does not say where: %s", o.Text)
	}
	if !o.Matches(push) || !o.Matches(p.call("git/git_push", `{"path":%q}`, p.sandbox)) {
		t.Error("the same push does not match")
	}
	for _, arguments := range []string{
		`{"path":%q,"remote":"origin","force":true}`,
		`{"path":%q,"remote":"origin","tags":true}`,
		`{"path":%q,"remote":"origin","branch":"other"}`,
		`{"path":%q,"remote":"theirs"}`,
	} {
		t.Run(arguments, func(t *testing.T) {
			if o.Matches(p.call("git/git_push", arguments, p.sandbox)) {
				t.Errorf("%s matches", arguments)
			}
		})
	}
	p.git("remote", "set-url", "origin", "https://github.com/them/theirs.git")
	if o.Matches(p.call("git/git_push", `{"path":%q,"remote":"origin"}`, p.sandbox)) {
		t.Error("the same name of another remote matches")
	}
	if p.offer(push, Exact).Matches(p.call("git/git_push", `{"path":%q,"remote":"origin"}`, p.sandbox)) {
		t.Error("the same words of another meaning are the exact call")
	}
}

func TestFilesAndDirectories(t *testing.T) {
	p := newPlace(t)
	write := func(path string) Call { return p.call("filesystem/write_file", `{"path":%q,"content":"x"}`, path) }
	c := write(p.outside + "/a.txt")
	if got := scopes(c); got != "exact file directory" {
		t.Errorf("scopes %s", got)
	}
	dir := p.offer(c, Directory)
	for path, want := range map[string]bool{"/a.txt": true, "/b.txt": true, "/.bashrc": false, "/deep/b.txt": false, "/../a.txt": false} {
		t.Run(path, func(t *testing.T) {
			if dir.Matches(write(p.outside+path)) != want {
				t.Errorf("%s: %v", path, !want)
			}
		})
	}
	if p.offer(c, File).Matches(write(p.outside + "/b.txt")) {
		t.Error("another file matches")
	}
	if p.offer(c, Exact).Matches(p.call("filesystem/write_file", `{"path":%q,"content":"y"}`, p.outside+"/a.txt")) {
		t.Error("other text is the exact call")
	}
	list := p.call("filesystem/list_directory", `{"path":%q}`, p.outside)
	if p.offer(list, Directory).Matches(p.call("filesystem/list_directory", `{"path":%q}`, filepath.Dir(p.outside))) {
		t.Error("listing a directory lets its parent be listed")
	}
	if got := scopes(write(p.outside + "/.hidden")); got != "exact" {
		t.Errorf("a hidden file has the scopes %s", got)
	}
	move := p.call("filesystem/move_file", `{"source":%q,"destination":%q}`, p.outside+"/a.txt", p.outside+"/b.txt")
	if got := scopes(move); got != "exact file" {
		t.Errorf("a move has the scopes %s", got)
	}
	many := p.call("filesystem/read_multiple_files", `{"paths":[%q,%q]}`, p.outside+"/a.txt", p.outside+"/b.txt")
	some := p.offer(many, File)
	if !some.Matches(p.call("filesystem/read_multiple_files", `{"paths":[%q]}`, p.outside+"/b.txt")) ||
		some.Matches(p.call("filesystem/read_multiple_files", `{"paths":[%q,%q]}`, p.outside+"/b.txt", p.outside+"/c.txt")) {
		t.Error("several files: some of them match, any other does not")
	}
}

func TestStructuralAndAllowedCallsGetNoOffer(t *testing.T) {
	p := newPlace(t)
	if got := scopes(p.call("filesystem/write_file", `{"path":%q,"content":""}`, p.sandbox+"/.envrc")); got != "" {
		t.Errorf("a structural escalation has the scopes %s", got)
	}
	if got := scopes(p.call("filesystem/read_file", `{"path":%q}`, p.sandbox+"/a")); got != "" {
		t.Errorf("an allowed call has the scopes %s", got)
	}
}

func TestOneSessionOneTime(t *testing.T) {
	p := newPlace(t)
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s := New(func() time.Time { return at })
	c := p.call("filesystem/read_file", `{"path":%q}`, p.outside+"/a.txt")
	for _, limit := range []time.Duration{-1, time.Millisecond, MaxTime + 1} {
		if _, err := s.Add("s", p.offer(c, File), "tui", identity.Client{}, "e", limit); !errors.Is(err, ErrTime) {
			t.Errorf("%v: %v", limit, err)
		}
	}
	g, err := s.Add("s", p.offer(c, File), "tui", identity.Client{}, "e", 0)
	if err != nil || g.ExpiresAt.Sub(g.At) != DefaultTime {
		t.Fatal(g, err)
	}
	other := c
	other.Session = "t"
	if _, ok := s.Match(other); ok {
		t.Error("another session is let through")
	}
	if _, err := s.Use(g.Number, other); !errors.Is(err, ErrNone) {
		t.Error("another session uses it")
	}
	if used, err := s.Use(g.Number, c); err != nil || used.Used != 1 {
		t.Error(used, err)
	}
	at = at.Add(DefaultTime)
	if _, ok := s.Match(c); ok {
		t.Error("it lasts longer than it said")
	}
	again, err := s.Add("s", p.offer(c, File), "cli", identity.Client{}, "e", time.Minute)
	if err != nil || again.Number == g.Number {
		t.Fatal(again, err)
	}
	at = at.Add(-time.Hour)
	if _, ok := s.Match(c); ok {
		t.Error("a clock that was set back makes it last longer")
	}
	if _, err := s.Add("s", p.offer(c, Exact), "tui", identity.Client{}, "e", 0); err != nil {
		t.Fatal(err)
	}
	s.Close("s")
	if len(s.List()) != 0 {
		t.Error("a closed session has grants")
	}
	for range maxGrants {
		if _, err := s.Add("s", p.offer(c, Exact), "tui", identity.Client{}, "e", 0); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Add("s", p.offer(c, Exact), "tui", identity.Client{}, "e", 0); !errors.Is(err, ErrFull) {
		t.Error("there is no end of grants")
	}
}

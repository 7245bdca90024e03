package policy

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestProtectedPaths checks which paths are protected and which are open, with a sandbox
// that lies inside a protected directory.
func TestProtectedPaths(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(w.root+"/state", 0o700))
	w.must(os.Symlink(w.root+"/state", w.sandbox+"/state"))
	e := w.engine(func(c *Config) {
		c.Protected = append(c.Protected, w.sandbox+"/generated", w.sandbox+"/state/inner", "~/.aws", w.root+"/link-to-out")
	})
	for path, want := range map[string]Decision{
		"a.txt":                        Allow,
		".env":                         Deny,
		".ENV":                         Deny, // another spelling on a disk that ignores case
		".env.local":                   Allow,
		"generated":                    Deny,
		"generated/policy.json":        Deny,
		"generated2":                   Allow,
		"state/inner/x":                Deny,
		"{ROOT}/state/inner/x":         Deny,
		"state/outer":                  Escalate,
		"{IRON}":                       Deny,
		"{IRON}/sessions":              Deny,
		"{IRON}/sessions/s1":           Deny,
		"{IRON}/sessions/s1/audit.log": Deny,
		"{IRON}/sessions/s2/sandbox":   Deny,
		"{IRON}/demo":                  Deny,
		"{IRON}/demo/outside":          Escalate,
		"{IRON}/demo/outside2":         Deny,
		"{IRON}2":                      Escalate,
		"~/.aws/credentials":           Deny,
		"~/.awsx":                      Escalate,
		"{ROOT}/link-to-out/x":         Deny,
	} {
		v := e.Evaluate(Call{Server: "filesystem", Tool: "get_file_info", Arguments: []byte(w.expand(`{"path":"` + path + `"}`))})
		if v.Decision != want {
			t.Errorf("%s: %s by %s (%s), want %s", path, v.Decision, v.Rule, v.Reason, want)
		}
	}
	// The agent makes a protected name a link; the name and the target stay protected.
	w.must(os.Symlink(w.sandbox+"/a.txt", w.sandbox+"/generated"))
	for _, path := range []string{"generated", "a.txt"} {
		v := e.Evaluate(Call{Server: "filesystem", Tool: "get_file_info", Arguments: []byte(`{"path":"` + path + `"}`)})
		if v.Decision != Deny {
			t.Errorf("%s: %s by %s", path, v.Decision, v.Rule)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	w := newWorld(t)
	c, a := Default()
	for name, config := range map[string]Config{
		"nothing":         {},
		"no annotations":  {Policy: c},
		"relative box":    {Policy: c, Annotations: a, Sandbox: "box"},
		"looping box":     {Policy: c, Annotations: a, Sandbox: w.sandbox + "/loop"},
		"bad mount":       {Policy: c, Annotations: a, Sandbox: w.sandbox, Mount: "/"},
		"empty protected": {Policy: c, Annotations: a, Sandbox: w.sandbox, Protected: []string{""}},
		"looping guard":   {Policy: c, Annotations: a, Sandbox: w.sandbox, Protected: []string{w.sandbox + "/loop"}},
		"bad domain":      {Policy: c, Annotations: a, Sandbox: w.sandbox, DomainAllow: map[string][]string{"git": {"*.com"}}},
	} {
		if _, err := New(config); err == nil {
			t.Errorf("%s: an engine comes out", name)
		}
	}
}

// A file with several hard links is looked for among the protected files. The homes of
// other sessions are not searched: an agent can fill its own home, but cannot link files
// in it to other places. With too many protected files the call is denied.
func TestHardLinksAndOtherSessions(t *testing.T) {
	former := maxGuarded
	maxGuarded = 100
	t.Cleanup(func() { maxGuarded = former })
	w := newWorld(t)
	one := "iron/sessions/s1/sandbox/one"
	w.write(one, "x")
	w.must(os.Link(w.root+"/"+one, w.sandbox+"/two"))
	for i := range 2 * maxGuarded {
		w.write(fmt.Sprint("iron/sessions/other/home/", i), "x")
	}
	w.write("iron/sessions/other/audit.jsonl", "x")
	w.must(os.Link(w.iron+"/sessions/other/audit.jsonl", w.sandbox+"/record"))
	e := w.engine(func(c *Config) { c.AgentDirs = []string{w.iron + "/sessions/*/home"} })
	for name, want := range map[string]Decision{"one": Allow, "two": Allow, "record": Deny, "hard-config": Deny, "hard-key": Deny} {
		if v := e.Evaluate(Call{Server: "filesystem", Tool: "read_file", Arguments: []byte(`{"path":"` + name + `"}`)}); v.Decision != want {
			t.Errorf("%s: %s, want %s (%s)", name, v.Decision, want, v.Reason)
		}
	}
	v := w.engine().Evaluate(Call{Server: "filesystem", Tool: "read_file", Arguments: []byte(`{"path":"one"}`)})
	if v.Decision != Deny || !strings.Contains(v.Reason, "more than 100 protected files") {
		t.Errorf("with too many: %s, %s", v.Decision, v.Reason)
	}
}

// One search for hard links goes on at a time. A call that waits for it ends with its
// context, and one that needs none does not wait.
func TestSearchesForHardLinksTakeTurns(t *testing.T) {
	w := newWorld(t)
	w.write("iron/sessions/s1/sandbox/one", "x")
	w.write("iron/sessions/s1/sandbox/single", "x")
	w.must(os.Link(w.sandbox+"/one", w.sandbox+"/two"))
	e := w.engine()
	call := func(name string) Call {
		return Call{Server: "filesystem", Tool: "read_file", Arguments: []byte(`{"path":"` + name + `"}`)}
	}
	searching <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan Verdict, 1)
	go func() { waiting <- e.EvaluateContext(ctx, call("one")) }()
	if v := e.Evaluate(call("single")); v.Decision != Allow {
		t.Errorf("a file with one name: %s (%s)", v.Decision, v.Reason)
	}
	cancel()
	if v := <-waiting; v.Decision != Deny {
		t.Errorf("got %s", v.Decision)
	}
	<-searching
	if v := e.Evaluate(call("one")); v.Decision != Allow {
		t.Errorf("afterwards: %s (%s)", v.Decision, v.Reason)
	}
}

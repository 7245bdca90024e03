package session

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

const widening = `{"name":"push","if":{"server":["git"],"roles":["git-remote-url"]},"then":"allow"}`

// termsRig is a configuration, and a directory with a policy for a tab.
type termsRig struct {
	t    *testing.T
	deps *Deps
	dir  string
}

func newTermsRig(t *testing.T) *termsRig {
	t.Helper()
	root := stored.RealPath(t.TempDir())
	r := &termsRig{t: t, dir: filepath.Join(root, "terms")}
	compiled, annotations := policy.Default()
	r.deps = testDeps(t, Config{
		Home: filepath.Join(root, "home"), UserHome: root, CacheDir: filepath.Join(root, "cache"),
		Agents: agent.Builtin(), DefaultAgent: "shell", Compiled: compiled, Annotations: annotations,
	})
	r.rules("")
	return r
}

// rules writes the tab's policy.
func (r *termsRig) rules(rules string) {
	r.t.Helper()
	r.write(filepath.Join(r.dir, "compiled-policy.json"), []byte(`{"rules":[`+rules+`]}`))
}

func (r *termsRig) write(file string, data []byte) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// verdict is that of the session's policy on writing a file outside the workspace, which
// the built-in policy escalates.
func (r *termsRig) verdict(s *Session, file string) policy.Verdict {
	r.t.Helper()
	if err := os.MkdirAll(s.fixed.Workspace, 0o700); err != nil {
		r.t.Fatal(err)
	}
	engine, err := s.engineOf(s.deps.PolicyInForce(), s.narrowings)
	if err != nil {
		r.t.Fatal(err)
	}
	arguments, _ := json.Marshal(map[string]string{"path": file, "content": "x"})
	return engine.Evaluate(policy.Call{Server: "filesystem", Tool: "write_file", Arguments: arguments})
}

// refused checks that the error says so, on one line and with what to do next.
func (r *termsRig) refused(err error, says ...string) {
	r.t.Helper()
	if err == nil {
		r.t.Errorf("no error, want %q", says)
		return
	}
	for _, want := range append(says, "policy of the tab: ") {
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || fault.Hint(err) == "" {
			r.t.Errorf("%v (%s), want %q", err, fault.Hint(err), want)
		}
	}
}

// A tab's policy and an agent's hold back more than the multiplexer's.
func TestAPolicyOfTheTab(t *testing.T) {
	r := newTermsRig(t)
	file := filepath.Join(r.deps.Config.UserHome, "outside", "a.txt")
	plain, err := New(r.deps, Request{})
	if err != nil {
		t.Fatal(err)
	}
	if v := r.verdict(plain, file); v.Decision != policy.Escalate {
		t.Errorf("without: %s by %s", v.Decision, v.Rule)
	}
	s, err := New(r.deps, Request{Policy: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	if v := r.verdict(s, file); v.Decision != policy.Deny || v.Rule != policy.RuleDefault {
		t.Errorf("of the tab: %s by %s", v.Decision, v.Rule)
	}
	if v := r.verdict(s, filepath.Join(s.fixed.Workspace, "a.txt")); v.Decision != policy.Allow {
		t.Errorf("in the workspace: %s by %s", v.Decision, v.Rule)
	}
	r.deps.Config.AgentPolicies = map[string]string{"shell": r.dir}
	if s, err = New(r.deps, Request{}); err != nil {
		t.Fatal(err)
	}
	if v := r.verdict(s, file); v.Decision != policy.Deny {
		t.Errorf("of the agent: %s by %s", v.Decision, v.Rule)
	}
	if v := r.verdict(s, filepath.Join(r.dir, "compiled-policy.json")); v.Rule != policy.RuleProtectedPath {
		t.Errorf("on the policy itself: %s by %s", v.Decision, v.Rule)
	}
}

// A policy that widens, that is not there or that the agent could change opens no tab, and
// nothing of the tab is left.
func TestAPolicyThatOpensNoTab(t *testing.T) {
	r := newTermsRig(t)
	r.rules(widening)
	_, err := New(r.deps, Request{Policy: r.dir})
	r.refused(err, "rule push would widen", filepath.Join(r.dir, "compiled-policy.json"), "git/git_", "escalate-git-network")
	_, err = New(r.deps, Request{Policy: filepath.Join(r.dir, "none")})
	r.refused(err, "no such directory")
	r.rules("")
	_, err = New(r.deps, Request{Policy: r.dir, Workspace: r.dir})
	r.refused(err, "in a directory that an agent can write to")
	r.rules("{")
	_, err = New(r.deps, Request{Policy: r.dir})
	r.refused(err, "compiled-policy.json")
	if left, err := os.ReadDir(filepath.Join(r.deps.Config.Home, "sessions")); len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A resumed session has the policy that it began with, and is refused without it.
func TestAPolicyOfTheTabStays(t *testing.T) {
	r := newTermsRig(t)
	first, err := New(r.deps, Request{Policy: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	record, err := json.Marshal(stored.Record{Session: first.Info()})
	if err != nil {
		t.Fatal(err)
	}
	r.write(first.layout.Record(), record)
	again := Request{Resume: first.ID()}
	s, err := Resume(r.deps, again)
	if err != nil {
		t.Fatal(err)
	}
	if v := r.verdict(s, filepath.Join(r.deps.Config.UserHome, "outside", "a.txt")); v.Decision != policy.Deny || s.Info().Policy != r.dir {
		t.Errorf("resumed: %s by %s, policy %q", v.Decision, v.Rule, s.Info().Policy)
	}
	if err := s.lease.Release(); err != nil {
		t.Fatal(err)
	}
	r.rules(widening)
	_, err = Resume(r.deps, again)
	r.refused(err, "rule push would widen")
	if err := os.Rename(r.dir, r.dir+"-away"); err != nil {
		t.Fatal(err)
	}
	_, err = Resume(r.deps, again)
	r.refused(err, "no such directory")
}

// Another policy of the multiplexer judges a session from Apply on, with a record of both. One
// that a policy of the tab would widen changes nothing.
func TestReload(t *testing.T) {
	r := newTermsRig(t)
	compiled, annotations := policy.Default()
	same, err := json.Marshal(compiled)
	if err != nil {
		t.Fatal(err)
	}
	r.write(filepath.Join(r.dir, "compiled-policy.json"), same)
	r.deps.Policy = new(atomic.Pointer[policy.Files])
	s, err := New(r.deps, Request{Policy: r.dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(s.fixed.Workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, audit.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	before, err := s.beginJudging(log)
	if err != nil {
		t.Fatal(err)
	}
	none, err := policy.ParseCompiled("none", []byte(`{"rules":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	files := policy.Files{Policy: none, Annotations: annotations}
	_, err = s.PrepareReload(files)
	r.refused(err, "would widen")
	if s.engine != before {
		t.Error("the engine was replaced")
	}
	r.rules("")
	change, err := s.PrepareReload(files)
	if err != nil {
		t.Fatal(err)
	}
	if err := change.Record(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.engine != before {
		t.Error("the engine was replaced before its time")
	}
	r.deps.Policy.Store(&files)
	change.Apply()
	if v := r.verdict(s, filepath.Join(r.deps.Config.UserHome, "outside", "a.txt")); v.Decision != policy.Deny {
		t.Errorf("the rest of the session is judged by the old policy: %s", v.Decision)
	}
	record, err := os.ReadFile(path)
	if s.engine == before || err != nil || !strings.Contains(string(record), before.Hash()) || !strings.Contains(string(record), s.engine.Hash()) {
		t.Errorf("on record: %s, %v", record, err)
	}
}

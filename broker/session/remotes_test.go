package session

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/autoapprove"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// gitSession makes a session whose workspace is a repository, and returns a function that
// writes a file of its .git directory.
func gitSession(t *testing.T, auto *AutoApprove) (s *Session, set func(name, text string)) {
	t.Helper()
	d := testDeps(t, Config{Home: t.TempDir(), Agents: agent.Builtin(), DefaultAgent: "shell", AutoApprove: auto})
	s, err := New(d, Request{})
	if err != nil {
		t.Fatal(err)
	}
	compiled, annotations := policy.Default()
	engine, err := policy.New(policy.Config{Policy: compiled, Annotations: annotations, Sandbox: s.fixed.Workspace, Home: d.Config.Home})
	if err != nil {
		t.Fatal(err)
	}
	s.UsePolicy(engine, nil)
	work := s.fixed.Workspace
	for _, dir := range []string{"objects", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(work, ".git", dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return s, func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(work, ".git", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// An order that names no branch means the branch that was checked out when the order was
// typed.
func TestTheBranchIsThatOfTheMomentOfTyping(t *testing.T) {
	const tip = "1111111111111111111111111111111111111111\n"
	for name, c := range map[string]struct {
		typed, called string // HEAD when the order is typed, and at the call
		goesOn        bool
	}{
		"the same":         {"ref: refs/heads/main\n", "ref: refs/heads/main\n", true},
		"another":          {"ref: refs/heads/main\n", "ref: refs/heads/evil\n", false},
		"none when typed":  {tip, "ref: refs/heads/main\n", false},
		"none when called": {"ref: refs/heads/main\n", tip, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, set := gitSession(t, &AutoApprove{Known: []string{"github.com"}})
			set("config", "[remote \"origin\"]\n\turl = https://github.com/me/x.git\n")
			set("refs/heads/main", tip)
			set("refs/heads/evil", tip)
			set("HEAD", c.typed)
			if err := s.pinRemotes(); err != nil {
				t.Fatal(err)
			}
			said := "push my changes to origin"
			r := receipt.Receipt{Text: said, Spans: []receipt.Span{{End: len(said)}}, Head: s.head()}
			set("HEAD", c.called)
			item := approval.Escalation{
				ID: "1", Session: string(s.ID()), Plane: "tool", Server: "git", Tool: "git_push", Rule: "escalate-git",
				Arguments: fmt.Appendf(nil, `{"path":%q,"remote":"https://github.com/me/x.git"}`, s.fixed.Workspace),
			}
			if err := autoapprove.Match(s.question(item, r)); (err == nil) != c.goesOn {
				t.Errorf("it goes on: %v, %v", err == nil, err)
			}
		})
	}
}

// The remotes of a workspace are written down once, before the agent begins.
func TestRemotesArePinnedOnce(t *testing.T) {
	s, set := gitSession(t, nil)
	if err := os.MkdirAll(filepath.Dir(s.layout.Remotes()), 0o700); err != nil {
		t.Fatal(err)
	}
	set("HEAD", "ref: refs/heads/main\n")
	configure := func(url string) { set("config", "[remote \"origin\"]\n\turl = "+url+"\n") }
	configure("https://github.com/me/x.git")
	for range 2 {
		if err := s.pinRemotes(); err != nil {
			t.Fatal(err)
		}
		if got := s.remotes["origin"]; got != "https://github.com/me/x.git" {
			t.Errorf("pinned %q", got)
		}
		s.remotes = nil
		configure("https://evil.example/x.git") // an agent could do this before the session is resumed
	}
}

// A move onto a file that is there is seen as one that would replace it.
func TestAMoveOntoAFileIsSeen(t *testing.T) {
	s, _ := gitSession(t, &AutoApprove{Reads: true, Confirm: true})
	there := filepath.Join(t.TempDir(), "there.txt")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for destination, exists := range map[string]bool{there: true, there + ".new": false} {
		q := s.question(approval.Escalation{
			Plane: "tool", Server: "filesystem", Tool: "move_file",
			Arguments: fmt.Appendf(nil, `{"source":"/a/from.txt","destination":%q}`, destination),
		}, receipt.Receipt{})
		if q.Exists != exists {
			t.Errorf("%s: exists is %v", destination, q.Exists)
		}
	}
}

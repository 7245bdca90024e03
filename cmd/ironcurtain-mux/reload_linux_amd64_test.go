package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// brokenPolicies are files that cannot be loaded, each with what is said of it.
func brokenPolicies() map[string]struct{ text, says string } {
	rule := `{"name":"r%d","description":"d","principle":"p","if":{"server":["effects"],"tool":["effect"]},"then":"allow","reason":"r"}`
	many := make([]string, 400_000)
	for i := range many {
		many[i] = fmt.Sprintf(rule, i)
	}
	return map[string]struct{ text, says string }{
		"empty":         {"", "policy.json:1: "},
		"half-written":  {effectsPolicy[:len(effectsPolicy)/2], "policy.json:"},
		"swapped":       {effectsPolicy[:40] + effectsPolicy, "policy.json:1: "},
		"unknown field": {strings.Replace(effectsPolicy, `"rules"`, `"extra":1,"rules"`, 1), `unknown field`},
		"deep nesting":  {`{"rules":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}", "policy.json:1: "},
		"40 MB":         {`{"rules":[` + strings.Join(many, ",") + `]}`, "larger than"},
	}
}

// TestABrokenPolicyChangesNothing puts broken policies in the place of a good
// one: at the start the program refuses, on a reload the one before stays, and
// the file and what is wrong with it are named.
func TestABrokenPolicyChangesNothing(t *testing.T) {
	c := newCrash(t)
	r, w := io.Pipe()
	c.stderr = w
	said := bufio.NewScanner(r)
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(c.policy, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd, _, socket := c.start("")
	reload := func(want string) {
		t.Helper()
		if err := cmd.Process.Signal(syscall.SIGUSR1); err != nil {
			t.Fatal(err)
		}
		if !said.Scan() || !strings.Contains(said.Text(), want) {
			t.Errorf("said %.300q, want %q", said.Text(), want)
		}
	}
	n := 0
	for name, p := range brokenPolicies() {
		put(p.text)
		code, _, stderr := invoke(t, "proxy", "mcp", "--servers", c.servers, "--policy", c.policy, "--annotations", c.ann,
			"--sandbox", c.dir, "--audit", c.log+".other", "--stdio")
		if code != cli.ExitFailure || !strings.Contains(stderr, p.says) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s at the start: exit %d, %.300q", name, code, stderr)
		}
		reload("policy.json")
		if !strings.Contains(said.Text(), p.says) || !strings.Contains(said.Text(), "the old policy stays in force") {
			t.Errorf("%s: said %.300q", name, said.Text())
		}
		n++
		if answer := c.call(socket, n, func() {}); !strings.Contains(answer, "done") {
			t.Errorf("%s: afterwards a call is answered with %s", name, answer)
		}
	}
	// A good one takes its place.
	put(strings.Replace(effectsPolicy, `"then":"allow"`, `"then":"escalate"`, 1))
	reload("reloaded")
	if answer := c.call(socket, 99, func() {}); !strings.Contains(answer, "ESCALATION REQUIRED") || c.happened(99) != 0 {
		t.Errorf("under the new policy: %s", answer)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	_ = w.Close()
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
)

// Some of the suite runs again with containers that are reached over a stream, and with copies of
// files. All of it does with IRONCURTAIN_TEST_WAY=stream and IRONCURTAIN_TEST_WAY=copied.
func TestByOtherWays(t *testing.T) {
	if os.Getenv(wayVariable) != "" {
		t.Skip("all of this run tries another way") //nolint:forbidigo // no part is missing
	}
	t.Parallel()
	for way, again := range map[string]string{
		"stream":    "TestTakeBack|TestTakeBackDrawsAnew|TestPortsOfConfig|TestUpgradeLosesNothing|TestResumeConversation",
		copiedFiles: "TestTakeBack|TestUpgradeLosesNothing|TestResumeConversation|TestWorktrees",
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^("+again+")$", "-test.v", "-test.timeout", "30m")
			cmd.Env = append(os.Environ(), wayVariable+"="+way)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v:\n%s", err, out.String())
			}
			for name := range strings.SplitSeq(again, "|") {
				if !strings.Contains(out.String(), "--- PASS: "+name+" ") {
					t.Errorf("%s did not run", name)
				}
			}
		})
	}
}

// realEngine is the path of the socket of the engine that this machine has.
func realEngine(t *testing.T) string {
	t.Helper()
	endpoint, err := docker.Choice{}.Resolve(os.Getenv, "")
	if err != nil || endpoint.SocketPath() == "" {
		t.Fatalf("this test needs an engine on a socket of this machine, not %s: %v", endpoint.Address, err)
	}
	return endpoint.SocketPath()
}

// withEngine makes a home whose engine has faults.
func withEngine(t *testing.T, f fakeengine.Faults) (home string, e *fakeengine.Engine) {
	t.Helper()
	e = fakeengine.Start(t, realEngine(t), f)
	home = newHome(t)
	configure(t, home, fmt.Sprintf(`{"agent":"shell","engine":{"use":%q}}`, e.Address()))
	return home, e
}

// An engine into whose containers no socket leads is found out about.
func TestSocketsThatDoNotLead(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fakeengine.Faults{
		"nobody listens": {DeadSockets: true},
		"refused":        {RefuseSockets: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, _ := withEngine(t, f)
			d := driveFramed(t, home, 120, 30, "ironcurtain-mux")
			d.see(patience, "/workspace$")
			d.send("echo in $PWD\r")
			d.see(patience, "in /workspace")
			// A refusal can have another reason, and costs nothing to get again.
			if found, err := os.ReadFile(d.state("engines.json")); f.DeadSockets && (err != nil || !strings.Contains(string(found), `"stream"`)) {
				t.Errorf("what was found out is not kept: %s, %v", found, err)
			}
			d.send("\x01/new\r")
			d.inTab(2, "/workspace$")
			d.send("echo again in $PWD\r")
			d.see(patience, "again in /workspace")
			d.send("\x01/quit!\r")
			d.ended(patience)
		})
	}
}

// Where isolation is missing, no agent runs, whichever way there is.
func TestNoAgentRunsUnconfined(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"sockets", "stream"} {
		for _, flag := range fakeengine.Isolation() {
			t.Run(way+"/"+flag, func(t *testing.T) {
				t.Parallel()
				home, e := withEngine(t, fakeengine.Faults{Strip: []string{flag}})
				configure(t, home, fmt.Sprintf(`{"engine":{"use":%q,"way":%q},"setup":[{"workspace":%q,"run":"touch /workspace/began"}]}`, e.Address(), way, workspaceOf(t, home)))
				_, errs, code := (&driver{t: t, home: home}).command("start", "--agent", "shell", "--workspace", workspaceOf(t, home), "touch began")
				// As root, and without capabilities, the bridge can not even report.
				if code == 0 || flag != fakeengine.User && !strings.Contains(errs, "not isolated as ordered") {
					t.Errorf("it ends with %d: %s", code, errs)
				}
				if _, err := os.Stat(filepath.Join(workspaceOf(t, home), "began")); err == nil {
					t.Error("something of the agent ran")
				}
			})
		}
	}
}

// workspaceOf is a directory in which everybody may write, below a home.
func workspaceOf(t *testing.T, home string) string {
	t.Helper()
	dir := filepath.Join(home, "workspace")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

package mcpproxy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
)

// atRest tells whether a server does not run.
func (r *harness) atRest(server string) bool {
	b := r.proxy.backend(server)
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.demand.stopped && b.conn == nil
}

// started tells whether a stub was ever run.
func (r *harness) started() bool {
	_, err := os.Stat(filepath.Join(r.stub, "received"))
	return err == nil
}

// A server whose tools another session has seen is started by the first call, not
// by listing the tools, and stopped when there are no calls any more.
func TestKnownServerRunsOnlyForCalls(t *testing.T) {
	known := &Known{}
	r := newHarness(t, func(c *Config) { c.Known, c.Limits.Idle = known, time.Millisecond })
	if !r.started() {
		t.Fatal("a server that nobody knows was not asked for its tools")
	}
	eventually(t, func() bool { return r.atRest("filesystem") }, "the end of a server that nobody calls")

	r = newHarness(t, func(c *Config) { c.Known, c.Limits.Idle = known, 20*time.Millisecond })
	a := r.agent()
	a.send(`{"jsonrpc":"2.0","id":9,"method":"tools/list"}`)
	if m := a.answerTo("9"); !strings.Contains(string(m.Result), "filesystem__read_text_file") {
		t.Errorf("the tools: %s", m.Result)
	}
	if r.started() {
		t.Error("listing the tools has started the server")
	}
	for _, id := range []string{"1", "2", "3"} {
		if m := a.call(id, "filesystem__read_text_file", `{"path":"/workspace/`+id+`"}`); m.isError() || !strings.Contains(m.text(), "done") {
			t.Errorf("call %s: %s", id, m.Result)
		}
		eventually(t, func() bool { return r.atRest("filesystem") }, "the end of the server after call %s", id)
	}
	if n := len(r.forwarded()); n != 3 {
		t.Errorf("%d calls reached the server", n)
	}
}

// A server that works on a call is not stopped, and neither is one that was told
// in which directory it works.
func TestServerInUseIsNotStopped(t *testing.T) {
	r := newHarness(t, func(c *Config) {
		c.Known, c.Limits.Idle = &Known{}, time.Hour
		git := stubSpec(t, "git", filepath.Join(filepath.Dir(c.Servers[0].Env[stubVar]), "closed"))
		git.Env[toolsVar] = gitTools
		c.Servers = append(c.Servers, git)
	})
	dir := r.work
	r.proxy.workDir.Store(&dir)
	longAgo := func(b *backend) *backend {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.demand.used = time.Now().Add(-2 * time.Hour)
		return b
	}
	if longAgo(r.proxy.backend("git")).stopIfIdle() == 0 {
		t.Error("the git server forgets its working directory")
	}
	r.proxy.workDir.Store(nil)
	if longAgo(r.proxy.backend("git")).stopIfIdle() != 0 {
		t.Error("the git server has nothing to forget and runs on")
	}
	b := r.proxy.backend("filesystem")
	if err := b.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if longAgo(b).stopIfIdle() == 0 {
		t.Error("a server was stopped under a call")
	}
	b.release()
}

// A tool that is not what it was when it was first seen is not used, although the
// server was started for just this call.
func TestChangedToolOfAKnownServer(t *testing.T) {
	known := &Known{}
	known.learn(sandbox.Spec{Name: "filesystem"}, []tool{{
		server: "filesystem", Name: "read_text_file", Description: "Reads something else", InputSchema: []byte(`{"type":"object"}`),
	}})
	r := newHarness(t, func(c *Config) { c.Known = known })
	a := r.agent()
	if m := a.call("1", "filesystem__read_text_file", `{"path":"/workspace/a"}`); !m.isError() || !strings.Contains(m.text(), "definition changed") {
		t.Errorf("the call: %s", m.Result)
	}
	if n := len(r.forwarded()); n != 0 {
		t.Errorf("%d calls reached the server", n)
	}
}

// A server that cannot be started fails the calls that need it, each time anew,
// and the person is told.
func TestKnownServerThatDoesNotStart(t *testing.T) {
	known := &Known{}
	newHarness(t, func(c *Config) { c.Known = known })
	told := make(chan Activity, 8)
	r := newHarness(t, func(c *Config) {
		c.Known, c.Servers[0].Argv = known, []string{"/bin/false"}
		c.Activity = func(a Activity) {
			if a.Kind == ServerFailed {
				told <- a
			}
		}
	})
	a := r.agent()
	for _, id := range []string{"1", "2"} {
		t.Run(id, func(t *testing.T) {
			if m := a.call(id, "filesystem__read_text_file", `{"path":"/workspace/a"}`); !m.isError() || !strings.Contains(m.text(), "could not be started, so nothing was done") {
				t.Errorf("call %s: %s", id, m.Result)
			}
			if a := <-told; a.Server != "filesystem" || a.Detail == "" {
				t.Errorf("told: %+v", a)
			}
		})
	}
}

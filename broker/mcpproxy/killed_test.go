package mcpproxy

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
)

const gitTools = `[{"name":"git_clear_working_dir","inputSchema":{"type":"object"}}]`

// A server that is killed while it works on a call costs that call one error.
// It is started again, and the other servers do not notice.
func TestAServerThatIsKilled(t *testing.T) {
	var other string
	r := newHarness(t, func(c *Config) {
		other = filepath.Join(filepath.Dir(c.Servers[0].Env[stubVar]), "closed")
		git := stubSpec(t, "git", other)
		git.Env[toolsVar] = gitTools
		c.Servers = append(c.Servers, git)
	})
	a, b := r.agent(), r.agent()
	for round := range 3 {
		running, err := r.proxy.backend("filesystem").running()
		if err != nil {
			t.Fatal(err)
		}
		a.send(callLine("1", "filesystem__read_text_file", fmt.Sprintf(`{"path":"/workspace/%d/hang"}`, round)))
		eventually(t, func() bool { return len(r.forwarded()) == 2*round+1 }, "the call at the server")
		if err := syscall.Kill(running.peer.(*sandbox.Process).Pid(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if m := b.call("1", "git__git_clear_working_dir", `{"confirm":"Y"}`); m.isError() {
			t.Errorf("the other server: %s", m.Result)
		}
		if m := a.answerTo("1"); !m.isError() || !strings.Contains(m.text(), "not known") {
			t.Errorf("the call: %s", m.Result)
		}
		eventually(t, func() bool { l, err := r.proxy.backend("filesystem").running(); return err == nil && l != running }, "the server again")
		if m := a.call("2", "filesystem__read_text_file", fmt.Sprintf(`{"path":"/workspace/%d/a"}`, round)); m.isError() {
			t.Errorf("afterwards: %s", m.Result)
		}
	}
	ends := map[audit.Outcome]int{}
	for _, d := range r.endings(9) {
		ends[d.Outcome]++
	}
	if ends[audit.ServerDied] != 3 || ends[audit.Answered] != 6 {
		t.Errorf("ends on record: %v", ends)
	}
}

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

// effectsName is the command of an MCP server whose one tool has an effect that
// stays: a line in the file that EFFECTS names.
const effectsName = "effects-server"

const effectsPolicy = `{"generatedAt":"2026-01-01T00:00:00Z","constitutionHash":"","inputHash":"","rules":[{"name":"allow-effect","description":"d","principle":"p",
 "if":{"server":["effects"],"tool":["effect"]},"then":"allow","reason":"r"}]}`

const effectsAnnotations = `{"generatedAt":"2026-01-01T00:00:00Z","servers":{"effects":{"inputHash":"","tools":[{"toolName":"effect","serverName":"effects","comment":"c",
 "args":{"n":["none"]},"inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]}}}`

func init() { //nolint:gochecknoinits // the programs are known before the tests begin
	programs[effectsName], programs[killedName] = effectsServer, killedAt
}

func effectsServer() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Arguments json.RawMessage }
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		result := "{}"
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"effects","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"effect","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			f, err := os.OpenFile(os.Getenv("EFFECTS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				os.Exit(3)
			}
			fmt.Fprintf(f, "%s\n", m.Params.Arguments)
			_ = f.Close()
			result = `{"content":[{"type":"text","text":"done"}]}`
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// crash is a proxy that is killed, with what stays behind on the disk.
type crash struct {
	t                    *testing.T
	dir, effects, log    string
	program, killer      string
	servers, policy, ann string
	runs                 int
	stderr               io.Writer // nil: that of the test
}

func newCrash(t *testing.T) *crash {
	t.Helper()
	c := &crash{t: t, dir: newHome(t)}
	c.effects, c.log = filepath.Join(c.dir, "effects"), filepath.Join(c.dir, "audit.jsonl")
	find := func(name string) string {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	c.program, c.killer = find("ironcurtain-mux"), find(killedName)
	list, err := json.Marshal(map[string]any{"effects": map[string]any{
		"command": find(effectsName), "env": map[string]string{"EFFECTS": c.effects}, "sandbox": false,
	}})
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(c.dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c.servers, c.policy, c.ann = write("servers.json", string(list)), write("policy.json", effectsPolicy), write("annotations.json", effectsAnnotations)
	if err := os.MkdirAll(filepath.Join(c.dir, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

// start runs the proxy, by itself or under the tracer that kills it at a step.
func (c *crash) start(step string) (cmd *exec.Cmd, lines *bufio.Scanner, socket string) {
	c.t.Helper()
	c.runs++
	socket = filepath.Join(c.dir, "s"+strconv.Itoa(c.runs))
	argv := []string{
		c.program, "proxy", "mcp", "--servers", c.servers, "--policy", c.policy, "--annotations", c.ann,
		"--sandbox", filepath.Join(c.dir, "work"), "--audit", c.log, "--socket", socket,
	}
	if step != "" {
		argv = append([]string{c.killer, step}, argv...)
	}
	cmd = exec.CommandContext(c.t.Context(), argv[0], argv[1:]...)
	cmd.Env = environment(c.dir, cacheDirectory(c.t))
	if cmd.Stderr = c.stderr; c.stderr == nil {
		cmd.Stderr = os.Stderr
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	lines = bufio.NewScanner(out)
	c.expect(lines, `"ready":true`)
	return cmd, lines, socket
}

func (c *crash) expect(lines *bufio.Scanner, what string) {
	c.t.Helper()
	if !lines.Scan() || !strings.Contains(lines.Text(), what) {
		c.t.Fatalf("%q instead of %q", lines.Text(), what)
	}
}

// call makes one call and returns the answer, empty when none came.
func (c *crash) call(socket string, n int, ready func()) string {
	c.t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	in := bufio.NewScanner(conn)
	_, _ = io.WriteString(conn, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`+"\n")
	c.expect(in, "protocolVersion")
	ready()
	_, _ = fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"effects__effect","arguments":{"n":%d}}}`+"\n", n)
	if !in.Scan() {
		return ""
	}
	return in.Text()
}

// happened is how often a call took effect.
func (c *crash) happened(n int) int {
	data, err := os.ReadFile(c.effects)
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	return strings.Count(string(data), fmt.Sprintf("{\"n\":%d}\n", n))
}

// recorded is how often a call was recorded as allowed.
func (c *crash) recorded(n int) int {
	c.t.Helper()
	count := 0
	err := audit.Read(c.log, func(l audit.Line) error {
		if l.Decision == audit.Allow && string(l.Arguments) == fmt.Sprintf(`{"n":%d}`, n) {
			count++
		}
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return count
}

// steps are the system calls by which a tool call is recorded, forwarded and
// answered, in their order.
var steps = []string{
	"fstat of audit.jsonl", "write of audit.jsonl", "fsync of audit.jsonl", "lstat of a name", "pwrite of audit.jsonl.head",
	"write of pipe", "write of socket",
}

// TestKilledAtEveryStep kills the proxy with SIGKILL before and after each step.
// Whatever the step, a call that took effect is on record, none takes effect
// twice, and the log goes on whole.
func TestKilledAtEveryStep(t *testing.T) {
	c := newCrash(t)
	n := 0
	for _, step := range steps {
		for _, when := range []string{"before ", "after "} {
			n++
			cmd, lines, socket := c.start(when + step)
			answer := c.call(socket, n, func() {
				if err := cmd.Process.Signal(syscall.SIGUSR1); err != nil {
					t.Fatal(err)
				}
				c.expect(lines, "armed")
			})
			c.expect(lines, "killed: true")
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			c.check(n, when+step, answer)
		}
	}
	// The call that was killed before its record did not happen. The one that was
	// killed after it was forwarded did: check has waited for it. What is written to
	// the agent first need not be the answer.
	if c.happened(1) != 0 {
		t.Errorf("the first call, killed before its record, happened %d times", c.happened(1))
	}
}

// check looks at what a killed proxy left and starts it again.
func (c *crash) check(n int, name, answer string) {
	c.t.Helper()
	if name == "after write of pipe" { // the server's process may still be at it
		if !eventually(time.Minute, func() bool { return c.happened(n) > 0 }) {
			c.t.Errorf("killed %s: the call that was sent did not happen", name)
		}
	}
	before := c.happened(n)
	if before > c.recorded(n) {
		c.t.Errorf("killed %s: the call took effect without a record", name)
	}
	if strings.Contains(answer, "done") && before != 1 {
		c.t.Errorf("killed %s: the agent was told of an effect, there were %d", name, before)
	}
	cmd, _, socket := c.start("")
	if got := c.happened(n); got != before || got > 1 {
		c.t.Errorf("killed %s: %d effects, %d before the restart", name, got, before)
	}
	if again := c.call(socket, 1000+n, func() {}); !strings.Contains(again, "done") || c.happened(1000+n) != 1 {
		c.t.Errorf("killed %s: afterwards a call is answered with %q", name, again)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		c.t.Errorf("killed %s: the next run ended with %v", name, err)
	}
	if _, err := audit.Verify(c.log); err != nil {
		c.t.Errorf("killed %s: %v", name, err)
	}
}

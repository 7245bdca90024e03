package main

import (
	"bufio"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/bridge/embedded"
)

// The embedded bridge for arm64 runs on an emulated processor, and carries a conversation with the
// tools over its socket.
func TestTheBridgeForARM64(t *testing.T) {
	dir := t.TempDir()
	program, err := embedded.Install(dir, "aarch64")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, filepath.Base(agent.ToolSocket)))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	// The socket has the same path as in a container, in a private namespace.
	cmd := exec.CommandContext(t.Context(), "bwrap", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
		"--tmpfs", "/run", "--bind", dir, agent.Sockets, "qemu-aarch64", program, "mcp")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = listener.(*net.UnixListener).SetDeadline(time.Now().Add(time.Minute))
	conn, err := listener.Accept()
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Fatalf("it does not come: %v; %s", err, complaints.String())
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	asked, answers := bufio.NewReader(conn), bufio.NewReader(out)
	pass := func(to io.Writer, from *bufio.Reader, line string) {
		t.Helper()
		if _, err := io.WriteString(to, line+"\n"); err != nil {
			t.Error(err)
		}
		if got, err := from.ReadString('\n'); err != nil || strings.TrimSpace(got) != line {
			t.Errorf("of %s comes %s (%v)", line, got, err)
		}
	}
	pass(in, asked, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`)
	pass(conn, answers, `{"jsonrpc":"2.0","id":0,"result":{"v":1}}`)
	pass(in, asked, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{}}}`)
	pass(conn, answers, `{"jsonrpc":"2.0","id":1,"result":"one"}`)
	_ = in.Close()
	if err := cmd.Wait(); err != nil || complaints.Len() > 0 {
		t.Errorf("it ends with %v: %s", err, complaints.String())
	}
}

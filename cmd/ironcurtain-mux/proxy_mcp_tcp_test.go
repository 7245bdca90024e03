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
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// TestProxyMCPOverTCP asks the program itself, on a port that it chose, with the
// token that it made.
func TestProxyMCPOverTCP(t *testing.T) {
	dir := t.TempDir()
	servers, tokenFile := filepath.Join(dir, "servers.json"), filepath.Join(dir, "token")
	if err := os.WriteFile(servers, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("ironcurtain-mux")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "proxy", "mcp", "--servers", servers, "--sandbox", dir, "--audit", filepath.Join(dir, "audit.jsonl"),
		"--tcp", "127.0.0.1:0", "--token-file", tokenFile)
	cmd.Env = environment(dir, cacheDirectory(t))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var ready struct{ Address string }
	if err := json.NewDecoder(out).Decode(&ready); err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(tokenFile); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file: %v, %v", info, err)
	}
	for said, want := range map[string]bool{"Bearer " + strings.TrimSpace(string(token)): true, "Bearer " + strings.Repeat("x", 52): false} {
		conn, err := net.Dial("tcp", ready.Address)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		_, _ = fmt.Fprintf(conn, "%s\n"+`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n", said)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if got := err == nil && strings.Contains(line, "result"); got != want {
			t.Errorf("%v: %q, %v", want, line, err)
		}
		_ = conn.Close()
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestProxyMCPRefusesTCPThatIsNotSafe(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	servers, good := write("servers.json", "{}", 0o600), write("good", strings.Repeat("t", 40), 0o600)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(good, link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"every address":   {[]string{"--tcp", ":0", "--token-file", good}, cli.ExitUsage},
		"another address": {[]string{"--tcp", "0.0.0.0:0", "--token-file", good}, cli.ExitUsage},
		"a name":          {[]string{"--tcp", "localhost:0", "--token-file", good}, cli.ExitUsage},
		"no port":         {[]string{"--tcp", "127.0.0.1", "--token-file", good}, cli.ExitUsage},
		"no token":        {[]string{"--tcp", "127.0.0.1:0"}, cli.ExitUsage},
		"with a socket":   {[]string{"--tcp", "127.0.0.1:0", "--token-file", good, "--socket", "s"}, cli.ExitUsage},
		"open file":       {[]string{"--tcp", "127.0.0.1:0", "--token-file", write("open", strings.Repeat("t", 40), 0o644)}, cli.ExitFailure},
		"short token":     {[]string{"--tcp", "127.0.0.1:0", "--token-file", write("short", "secret", 0o600)}, cli.ExitFailure},
		"link":            {[]string{"--tcp", "127.0.0.1:0", "--token-file", link}, cli.ExitFailure},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"proxy", "mcp", "--servers", servers, "--sandbox", dir, "--audit", filepath.Join(dir, "audit.jsonl")}, c.args...)
			code, stdout, stderr := invoke(t, args...)
			if code != c.code || stdout != "" || !strings.HasPrefix(stderr, "ironcurtain-mux: ") || strings.Contains(stderr, "secret") {
				t.Errorf("exit %d, want %d: %q %q", code, c.code, stdout, stderr)
			}
		})
	}
}

package gitserver

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/freeport"
)

// StartSSHD runs an sshd until the test ends, and returns its port on this machine. hostKey and
// authorized are paths of the files with its key and with the authorized keys. config has more
// settings, one on each line.
func StartSSHD(t testing.TB, hostKey, authorized, config string) (port int) {
	t.Helper()
	port = freeport.Find(t)
	file := filepath.Join(t.TempDir(), "sshd.conf")
	text := fmt.Sprintf("ListenAddress 127.0.0.1:%d\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nStrictModes no\n"+
		"UsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n%s", port, hostKey, authorized, config)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { //nolint:gosec // sshd wants it when root starts it
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := exec.CommandContext(ctx, "/usr/sbin/sshd", "-D", "-e", "-f", file)
	server.WaitDelay = 5 * time.Second
	log, err := server.StderrPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	lines, said, up := bufio.NewScanner(log), "", false
	for !up && lines.Scan() {
		said += lines.Text() + "\n"
		up = strings.Contains(said, "Server listening")
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for lines.Scan() {
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-drained
		_ = server.Wait()
	})
	if !up {
		t.Fatal("sshd did not start: ", said)
	}
	return port
}

package proxies

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// listenTCP opens the port that --tcp names and reads the token of its clients.
func (f *mcpFlags) listenTCP(ctx context.Context) (net.Listener, string, error) {
	const op = "open the TCP port"
	host, _, err := net.SplitHostPort(f.tcp)
	if err != nil {
		return nil, "", cli.Usagef("--tcp %q is not an address and a port, such as 127.0.0.1:7777", f.tcp)
	}
	if addr, err := netip.ParseAddr(host); (err != nil || !addr.Unmap().IsLoopback()) && !f.tcpRemote {
		return nil, "", cli.Usagef("--tcp %q can be reached from other machines: use 127.0.0.1, or add --tcp-remote", f.tcp)
	}
	token, err := tokenIn(wiring.AbsolutePath(f.tokenFile))
	if err != nil {
		return nil, "", cli.Fail("read the token", err, "name a file that only you can read, or one that does not exist yet")
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", f.tcp)
	return l, token, cli.Fail(op, err, "choose another port; 0 means any free port")
}

// maxTokenFile is the longest file of a token, in bytes.
const maxTokenFile = 1 << 10

// tokenIn reads a token from a file that nobody else can read, or makes both.
func tokenIn(path string) (string, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s can be read by others", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxTokenFile+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxTokenFile {
		return "", fmt.Errorf("%s is longer than %d bytes", path, maxTokenFile)
	}
	if len(data) == 0 {
		token := rand.Text() + rand.Text()
		_, err := file.WriteString(token + "\n")
		return token, errors.Join(err, file.Sync())
	}
	token := strings.TrimSpace(string(data))
	if len(token) < mcpproxy.MinToken {
		return "", fmt.Errorf("the token in %s is shorter than %d bytes", path, mcpproxy.MinToken)
	}
	return token, nil
}

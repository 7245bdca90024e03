package proxies

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// Command groups the two proxies, which can run without the multiplexer.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "proxy",
		Short: "Run one of the proxies alone, for any other agent",
		Long: `Run one of the two proxies without the multiplexer, for an agent that is isolated by
other means: 'mcp' judges its tool calls, 'mitm' forwards its model requests.`,
		Example: `  ironcurtain-mux proxy mcp --servers mcp-servers.json --sandbox ~/project --stdio --audit ./audit.jsonl
  ironcurtain-mux proxy mitm --socket /tmp/mitm.sock --provider anthropic --state ./state --audit ./audit.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(proxyMCPCommand(), proxyMITMCommand())
	return cmd
}

// drainTime is how long running requests may continue after SIGTERM, and closeTime how long
// the proxy may take to end.
const (
	drainTime = 5 * time.Second
	closeTime = drainTime + 10*time.Second
)

// listenUnix listens on a socket that only this user can reach. It replaces a socket that
// no process serves, and nothing else.
func listenUnix(path string) (net.Listener, error) {
	if len(path) > docker.MaxSocketPath {
		return nil, fmt.Errorf("the path of the socket has %d bytes; at most %d are possible", len(path), docker.MaxSocketPath)
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("%s exists and is not a socket", path)
		}
		if c, err := (&net.Dialer{}).DialContext(context.Background(), "unix", path); err == nil {
			_ = c.Close()
			return nil, fmt.Errorf("%s is served by another process", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return wire.ListenPrivate(path)
}

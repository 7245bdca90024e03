package running

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/logind"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/daemon"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// ClientOptions returns the directories, and the options for reaching the daemon.
func ClientOptions() (wiring.Paths, client.Options, error) {
	p, err := wiring.FindPaths()
	if err != nil {
		return p, client.Options{}, err
	}
	if err := stored.CheckHome(p.Home); err != nil {
		return p, client.Options{}, cli.Fail("reach the daemon", err, "")
	}
	return p, optionsAt(p.Home), nil
}

// optionsAt returns the options for reaching the daemon of a home from this process.
func optionsAt(home string) client.Options {
	name, _ := os.Hostname() // a client may have no name
	o := client.Options{Socket: daemon.SocketPath(home), Version: cli.ThisBuild().Version, Name: name}
	if f := cli.TerminalIn(os.Stdin); f != nil {
		o.Terminal = outer.Device(f)
	}
	return o
}

// StartedFlag tells serve that a client has started it.
const StartedFlag = "started"

// StartDaemon starts the daemon if none runs, and reports whether it did.
func StartDaemon(cmd *cobra.Command, o client.Options) (bool, error) {
	program, err := os.Executable()
	if err != nil {
		return false, cli.Fail("start daemon", err, "")
	}
	if err := client.Reach(cmd.Context(), o); o.Terminal != "" && errors.Is(err, client.ErrNoDaemon) {
		p, err := wiring.FindPaths()
		if err != nil {
			return false, err
		}
		p.Engine = o.Engine.Name
		p.Introduce(cmd.Context())
	}
	argv := append([]string{program, "serve", "--" + StartedFlag}, EngineArguments(o.Engine.Name)...)
	started, err := start(cmd.Context(), o, "/", logind.GroupsFile(0), argv)
	return started, startFailure(err)
}

// EngineArguments returns the arguments that give a daemon a container engine by name; none for an
// empty name.
func EngineArguments(name string) []string {
	if name == "" {
		return nil
	}
	return []string{"--" + wiring.EngineFlagName, name}
}

// start starts the daemon with a command line. If a logout would kill the daemon, it starts it in a
// scope of the user's systemd, if that is possible. root and cgroups are as for logind.FateOf.
func start(ctx context.Context, o client.Options, root, cgroups string, argv []string) (started bool, err error) {
	if in := scoped(root, cgroups, argv); in != nil {
		started, err = client.Start(ctx, o, in)
		var refused *client.StartError // from the daemon itself
		if err == nil || errors.As(err, &refused) || ctx.Err() != nil {
			return started, err
		}
	}
	return client.Start(ctx, o, argv)
}

// startFailure turns why the daemon could not be started into a failure of this command.
func startFailure(err error) error {
	var s *client.StartError
	if errors.As(err, &s) {
		return &cli.Failure{Op: s.Op, Err: errors.New(s.Reason), Next: s.Next}
	}
	return cli.Fail("open multiplexer", err, "")
}

// TakenBackFile is the file with a line, the time, for each time that a daemon has found the running
// agents of a killed daemon, and has taken them back or asked the person.
func TakenBackFile(home string) string { return filepath.Join(home, "run", "taken-back") }

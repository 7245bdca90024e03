package toolservers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/remote/login"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// loginTime is how long a login waits for the person.
const loginTime = 10 * time.Minute

func serversLoginCommand(more *string) *cobra.Command {
	return &cobra.Command{
		Use:   "login NAME",
		Short: "Log in to a server, in your browser",
		Long: `Log in to a server. The command prints an address, and opens it in the browser of
your desktop if there is one. It waits ten minutes for the answer, which the browser
sends to a port of this machine.`,
		Example: `  ironcurtain-mux servers login board`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			op := "log in to " + args[0]
			c, store, err := loginOf(args[0], *more)
			if err != nil {
				return cli.Fail(op, err, "")
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), loginTime, errors.New("the login was not completed within ten minutes"))
			defer cancel()
			r := login.Request{Address: c.URL, Show: func(address string) {
				fmt.Fprintf(cmd.OutOrStdout(), "Log in here:\n\n%s\n\n", address)
				openInBrowser(address)
			}}
			if c.OAuth != nil {
				r.ClientID, r.Port, r.Scope = c.OAuth.ClientID, c.OAuth.Port, c.OAuth.Scope
			}
			if err := store.Login(ctx, r); err != nil {
				return cli.Fail(op, err, "try again; 'ironcurtain-mux servers login --help' says how it works")
			}
			fmt.Fprintf(cmd.OutOrStdout(), "You are logged in. To use the login in open tabs: /servers restart %s\n", args[0])
			return nil
		},
	}
}

func serversLogoutCommand(more *string) *cobra.Command {
	return &cobra.Command{
		Use:   "logout NAME",
		Short: "Forget the login at a server",
		Long: `Remove the login at a server from this machine. The server may still accept the login
for a while; you can end it on the server's own pages.`,
		Example: `  ironcurtain-mux servers logout board`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			op := "log out of " + args[0]
			_, store, err := loginOf(args[0], *more)
			if err != nil {
				return cli.Fail(op, err, "")
			}
			was, err := store.Logout(cmd.Context())
			if err != nil {
				return cli.Fail(op, err, "")
			}
			text := "There was no login.\n"
			if was {
				text = "The login is forgotten.\n"
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), text)
			return cli.Fail(op, err, "")
		},
	}
}

// loginOf returns a server that needs a login, from config.json or the file more, and the store of its
// login.
func loginOf(name, more string) (servers.Config, *login.Store, error) {
	var none servers.Config
	p, config, err := wiring.LoadConfig()
	if err != nil {
		return none, nil, err
	}
	agents, err := wiring.AgentsOf(config)
	if err != nil {
		return none, nil, err
	}
	own, err := wiring.OwnServers(config, p.ConfigFile(), more, agents)
	if err != nil {
		return none, nil, err
	}
	c, named := own[name]
	switch {
	case !named:
		return none, nil, fault.New("add it to mcpServers", "there is no server %q", name)
	case c.Remote() == nil:
		return none, nil, errors.New("the server is a program of this machine and needs no login")
	case !c.LogsIn():
		return none, nil, errors.New("the server gets its credential in a header")
	}
	return c, login.NewStore(p.Home, name, c.URL), nil
}

// openInBrowser shows an address in the person's browser, if there is a desktop.
func openInBrowser(address string) {
	opener := "open"
	if runtime.GOOS != "darwin" {
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return
		}
		opener = "xdg-open"
	}
	cmd := exec.Command(opener, address) //nolint:noctx // it may outlive this command
	if cmd.Start() == nil {
		_ = cmd.Process.Release()
	}
}

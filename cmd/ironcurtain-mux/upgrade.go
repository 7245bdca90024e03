package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/running"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/timespan"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/client"
)

// upgradeWait is how long an upgrade waits for tool calls and answers of models by default.
const upgradeWait time.Duration = 30 * time.Second

// upgradeCommand makes the daemon become the program that is installed now.
func upgradeCommand() *cobra.Command {
	wait := upgradeWait
	var now bool
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Upgrade the running daemon to the program that is installed now",
		Long: `Upgrade the running daemon to the program that is at its path now, after that file was
replaced. The agents, their screens, the terminals that show them and the calls that wait
for you stay. The upgrade first waits for other tool calls and for answers of models. If a
tool call is still under way after --wait, nothing is changed. Answers of models that are
still under way are cut off, and the agents ask again. Tool servers are started again when
they are needed. While a task of 'start' is under way, or a shell of this machine runs, the
upgrade is refused, except with --now, which ends them.`,
		Example: "  ironcurtain-mux upgrade\n  ironcurtain-mux upgrade --wait 5m\n  ironcurtain-mux upgrade --now",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, o, err := running.ClientOptions()
			if err != nil {
				return err
			}
			end, err := client.Upgrade(cmd.Context(), o, wait, now)
			return reportEnd(cmd, "upgrade", end, err)
		},
	}
	cmd.Flags().Var(timespan.Flag{To: &wait}, "wait", "how long to wait for tool calls and answers that are under way")
	cmd.Flags().BoolVar(&now, "now", false, "do not wait: tool calls end as interrupted, and tasks of start and shells of this machine end")
	return cmd
}

// checkFlag makes serve report whether it could serve.
const checkFlag = "check"

// checked is what serve --check prints.
type checked struct {
	Version  string `json:"version"`
	Protocol int    `json:"protocol"`
	State    int    `json:"state"` // the version of the state on disk
	Error    string `json:"error,omitempty"`
	Hint     string `json:"hint,omitempty"`
}

// checkServing prints whether this program could serve with the configuration and the policy.
func checkServing(cmd *cobra.Command) error {
	c := checked{Version: cli.ThisBuild().Version, Protocol: wire.Protocol, State: stored.Version}
	p, settings, err := new(wiring.TabFlags).Check(cmd.Context())
	var w wiring.Parts
	if err == nil {
		w, err = p.Wire(settings, broker.Profile{})
	}
	if err == nil {
		_, err = w.LoadOwn()
	}
	if err != nil {
		c.Error, c.Hint = err.Error(), fault.Hint(err)
	}
	return cli.PrintJSON(cmd.OutOrStdout(), c)
}

// selfCheckLimit is how long a program may take to check itself.
const selfCheckLimit = 20 * time.Second

// maxChecked is the size in bytes of the longest answer that is read.
const maxChecked = 64 << 10

// checkProgram returns why this process cannot become another program; nil: it can.
func checkProgram(ctx context.Context, program string) error {
	ctx, cancel := context.WithTimeout(ctx, selfCheckLimit)
	defer cancel()
	check := exec.CommandContext(ctx, program, "serve", "--"+checkFlag)
	out := &bounded.Buffer{Most: maxChecked, Err: errors.New("the program writes too much")}
	check.Dir, check.Env, check.Stdout = "/", os.Environ(), out
	check.WaitDelay = time.Second
	if err := check.Run(); err != nil {
		return fault.New("install the program again", "%s does not work: %w", program, err)
	}
	var c checked
	if err := json.Unmarshal(out.Bytes(), &c); err != nil || c.Version == "" {
		return fault.New("install another version", "%s does not report whether it can continue", program)
	}
	switch is := cli.ThisBuild().Version; {
	case c.Error != "":
		return fault.New(c.Hint, "%s, version %s, cannot serve: %s", program, c.Version, c.Error)
	case c.State < stored.Version, c.Protocol < wire.Protocol:
		return fault.New("install a newer version", "%s, version %s, is older than the daemon, version %s, and cannot continue it", program, c.Version, is)
	}
	return nil
}

// offerUpgrade returns a notice for a person whose program has another version than the daemon; empty:
// there is nothing to offer. kept says that the daemon was upgraded while this terminal showed it, so that
// only the process beside the person is of the former version.
func offerUpgrade(daemon, program string, kept bool) string {
	if kept || daemon == program || daemon == "" {
		return ""
	}
	return fmt.Sprintf("the daemon is %s, this program is %s: 'ironcurtain-mux upgrade' upgrades the daemon to the installed program", daemon, program)
}

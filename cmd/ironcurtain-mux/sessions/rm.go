package sessions

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

func sessionsRemoveCommand() *cobra.Command {
	var insist bool
	var named wiring.EngineFlag
	cmd := &cobra.Command{
		Use:   "rm ID...",
		Short: "Remove sessions and everything in them",
		Long: `Remove sessions: their directories with the agent's home, the sandbox and the
audit; the container of a session whose multiplexer was killed; and its volumes on
an engine that does not see this machine's files. A session that is open in a
multiplexer stays, and so does one whose directory another session uses. The
beginning of an id is enough.

The branch of a worktree stays in its repository. Without --force, a session stays if
its worktree has something that is nowhere else (commits that could not be brought to
the repository, uncommitted changes, files that git ignores), or if its copy of a
directory has changes that were not landed ('sessions land').`,
		Example: "  ironcurtain-mux sessions rm 6f1c 0a77",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("give at least one id (see 'ironcurtain-mux sessions ls')")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			const op = "remove session"
			p, err := wiring.FindPaths()
			if err != nil {
				return err
			}
			var client *docker.Client
			engine := func(ctx context.Context) (*docker.Client, error) {
				var err error
				if client == nil {
					client, err = wiring.ConnectEngine(ctx, named.In(p))
				}
				return client, err
			}
			var all []error
			for _, id := range args {
				found, err := stored.Find(p.Home, id)
				if err == nil {
					err = stored.Remove(cmd.Context(), p.Home, found.ID, insist, engine)
				}
				all = append(all, err)
			}
			if client != nil {
				all = append(all, client.Close(cmd.Context()))
			}
			return cli.Fail(op, cli.OnOneLine(errors.Join(all...)), "")
		},
	}
	named.Register(cmd)
	cmd.Flags().BoolVar(&insist, "force", false, "also remove work that is in a worktree or a copy and nowhere else")
	return cmd
}

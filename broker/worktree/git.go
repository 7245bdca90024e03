package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/gitrun"
)

// git runs git with our configuration only.
type git struct {
	dir     string // the repository
	tree    string // the working tree; may be empty
	objects string // where git writes objects; "" means to the repository
	borrows string // with objects: another directory from which git reads objects
	indexes int64  // bytes of the indexes of packs that git reads
}

// maxAnswer is the largest output that run accepts, in bytes.
const maxAnswer = 64 << 10

// run runs a command of git and returns its output without the last line feed.
func (g git) run(ctx context.Context, args ...string) (string, error) {
	out, err := gitrun.Thorough.Output(ctx, maxAnswer, g.command(args))
	return strings.TrimSuffix(string(out), "\n"), explained(err)
}

// pipe runs a command of git with the given input and output.
func (g git) pipe(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	cmd := g.command(args)
	cmd.In, cmd.Out = in, out
	return explained(gitrun.Thorough.Run(ctx, cmd))
}

func (g git) command(args []string) gitrun.Command {
	var env []string
	for name, value := range map[string]string{"GIT_DIR": g.dir, "GIT_WORK_TREE": g.tree, "GIT_OBJECT_DIRECTORY": g.objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES": g.borrows} {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	return gitrun.Command{Args: args, Env: env, Indexes: g.indexes}
}

func explained(err error) error {
	if errors.Is(err, gitrun.ErrNoGit) {
		return &fault.Error{Op: "worktree", Err: err, Next: "install git"}
	}
	return err
}

func refuse(next, format string, args ...any) error {
	return &fault.Error{Op: "worktree", Err: fmt.Errorf(format, args...), Next: next}
}

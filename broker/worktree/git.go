package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// git runs git where it obeys nobody's configuration but ours.
type git struct {
	dir      string // the repository
	tree     string // the working tree; may be empty
	objects  string // where objects are written; empty: to the repository
	hookless bool   // the repository is a person's: its own configuration counts, its hooks do not
}

// maxComplaint bounds what is kept of git's complaints, in bytes.
const maxComplaint = 2048

// beginning keeps the first bytes written to it. Of objects that an agent made, git may
// complain one by one.
type beginning []byte

func (b *beginning) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), maxComplaint-len(*b))]...)
	return len(p), nil
}

// something tells whether anything was written to it.
type something bool

func (s *something) Write(p []byte) (int, error) {
	*s = *s || len(p) > 0
	return len(p), nil
}

// run runs a command of git and returns what it prints, without the last line feed.
func (g git) run(ctx context.Context, args ...string) (string, error) {
	var out bytes.Buffer
	err := g.pipe(ctx, nil, &out, args...)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// pipe runs a command of git on what it reads and where it writes.
func (g git) pipe(ctx context.Context, in io.Reader, out io.Writer, args ...string) error {
	if g.hookless {
		args = append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"}, args...)
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = g.env()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it removes its locks
	cmd.WaitDelay = time.Second
	var complaint beginning
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &complaint
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return &Error{errors.New("there is no git on this machine"), "install git"}
	case ctx.Err() != nil:
		return fmt.Errorf("git %s: %w", g.verb(args), context.Cause(ctx))
	case err != nil:
		text := strings.TrimSpace(string(complaint))
		if text == "" {
			text = err.Error()
		}
		return fmt.Errorf("git %s: %.*q", g.verb(args), maxComplaint, text)
	}
	return nil
}

// verb is the command among the arguments.
func (g git) verb(args []string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-c":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i]
		}
	}
	return ""
}

// env is git's environment, made from nothing.
func (g git) env() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0",
	}
	if g.dir != "" {
		env = append(env, "GIT_DIR="+g.dir)
	}
	if g.tree != "" {
		env = append(env, "GIT_WORK_TREE="+g.tree)
	}
	if g.objects != "" {
		env = append(env, "GIT_OBJECT_DIRECTORY="+g.objects)
	}
	return env
}

// Error is a worktree that cannot be had.
type Error struct {
	Err  error
	Next string
}

func (e *Error) Error() string { return "worktree: " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Hint is the next thing to do.
func (e *Error) Hint() string { return e.Next }

func refuse(next, format string, args ...any) error {
	return &Error{fmt.Errorf(format, args...), next}
}

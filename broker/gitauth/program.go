package gitauth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
)

// askLimit is how long a program of the host may take to answer. A test may lower it.
var askLimit = 10 * time.Second

// maxAnswer bounds the output of such a program, in bytes.
const maxAnswer = 64 << 10

var (
	errSlow  = errors.New("no answer in time")
	errLarge = errors.New("the answer is too large")
)

// ask runs a program of the host in an empty directory, so that git finds no repository, and returns
// its output.
func ask(ctx context.Context, in string, argv ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "gitauth-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return program{argv: argv, dir: dir, limit: askLimit}.run(ctx, in)
}

// program is one run of a program of the host. It has no controlling terminal. If it takes too long,
// its whole process group is killed. Its standard error is dropped, because a helper might print a
// secret there.
type program struct {
	argv  []string
	dir   string
	env   []string // in addition to the person's
	limit time.Duration
}

// run runs the program and returns its output.
func (p program) run(ctx context.Context, in string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, append(personsEnvironment(), p.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // a helper may leave a daemon that keeps the pipe open
	out := &bounded.Buffer{Most: maxAnswer, Err: errLarge}
	cmd.Stdin, cmd.Stdout = strings.NewReader(in), out
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", p.argv[0], context.Cause(ctx))
	case limited.Err() != nil:
		return nil, errSlow
	case out.Over():
		return nil, errLarge
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil
	}
	return out.Bytes(), err
}

// notPassed are variables that would lead git to a repository, make it ask somebody or change its
// language.
var notPassed = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CONFIG", "GIT_CEILING_DIRECTORIES",
	"GIT_TERMINAL_PROMPT", "GIT_ASKPASS", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "LC_ALL",
}

// personsEnvironment returns this process's environment without notPassed and the variables that
// make git trace.
func personsEnvironment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(notPassed, name) || strings.HasPrefix(name, "GIT_TRACE")
	})
	// Git does not look for a repository in the ceiling or above it.
	return append(env, "GIT_CEILING_DIRECTORIES="+os.TempDir(), "LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never")
}

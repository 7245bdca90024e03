package gitauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// askLimit is how long a program of the host may take to answer. A test may lower it.
var askLimit = 10 * time.Second

// maxAnswer bounds what such a program may answer, in bytes.
const maxAnswer = 64 << 10

var (
	errSlow  = errors.New("no answer in time")
	errLarge = errors.New("the answer is too large")
)

// boundedOutput keeps what a program prints, and fails when that becomes too much.
type boundedOutput struct {
	kept bytes.Buffer
	over bool
}

func (a *boundedOutput) Write(p []byte) (int, error) {
	if a.kept.Len()+len(p) > maxAnswer {
		a.over = true
		return 0, errLarge
	}
	return a.kept.Write(p)
}

// ask runs a program of the host in an empty directory, so that git finds no repository, and
// returns what it prints.
func ask(ctx context.Context, in string, argv ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "gitauth-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return program{argv: argv, dir: dir, limit: askLimit}.run(ctx, in)
}

// program is one run of a program of the host. It has no terminal, not even as a session's
// controlling one. When it takes too long, its whole process group is killed. Its standard
// error is dropped: a helper might print a secret there.
type program struct {
	argv  []string
	dir   string
	env   []string // besides the person's
	limit time.Duration
}

// run runs it and returns what it prints.
func (p program) run(ctx context.Context, in string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	cmd := exec.CommandContext(limited, p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, append(personsEnvironment(), p.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // a helper may leave a daemon behind that keeps the pipe
	var out boundedOutput
	cmd.Stdin, cmd.Stdout = strings.NewReader(in), &out
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", p.argv[0], context.Cause(ctx))
	case limited.Err() != nil:
		return nil, errSlow
	case out.over:
		return nil, errLarge
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil
	}
	return out.kept.Bytes(), err
}

// notPassed are variables that would lead git to a repository. No program of ours passes them
// on to a helper.
var notPassed = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_CONFIG", "GIT_CEILING_DIRECTORIES",
	"GIT_TERMINAL_PROMPT", "GIT_ASKPASS", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "LC_ALL",
}

// personsEnvironment is this process's environment without what leads git to a repository,
// makes it ask somebody, or makes it trace what it does.
func personsEnvironment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(notPassed, name) || strings.HasPrefix(name, "GIT_TRACE")
	})
	// Git looks for a repository in the directories above only below a ceiling.
	return append(env, "GIT_CEILING_DIRECTORIES="+os.TempDir(), "LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never")
}

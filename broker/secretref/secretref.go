// Package secretref reads a secret of the person's from where a reference says: from the output of a
// command, an environment variable, or a file. The configuration has the reference and never the
// secret. No error contains the secret.
package secretref

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Reference says where a secret is. Exactly one member is set.
type Reference struct {
	Command []string // prints the secret; it is run without a shell
	Env     string   // the name of a variable
	File    string   // an absolute path
}

// Limits of reading a secret.
const (
	commandTime = 10 * time.Second
	maxSecret   = 64 << 10 // bytes
)

// String describes the reference, for messages. It leaves out the arguments of a command, because
// they may be private.
func (r Reference) String() string {
	switch {
	case len(r.Command) > 0:
		return fmt.Sprintf("command %q", r.Command[0])
	case r.Env != "":
		return "variable " + r.Env
	}
	return fmt.Sprintf("file %q", r.File)
}

// Resolve returns the secret, without white space around it. A command has this process's
// environment, no terminal, and ten seconds.
func (r Reference) Resolve(ctx context.Context) (string, error) {
	value, err := r.read(ctx)
	secret := strings.TrimSpace(value)
	switch {
	case err != nil:
	case secret == "":
		err = errors.New("the secret is empty")
	case len(value) > maxSecret:
		err = fmt.Errorf("the secret is longer than %d bytes", maxSecret)
	case strings.ContainsFunc(secret, func(c rune) bool { return c < ' ' || c > '~' }):
		err = errors.New("the secret is not a single line of printable ASCII characters")
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", r, err)
	}
	return secret, nil
}

func (r Reference) read(ctx context.Context) (string, error) {
	switch {
	case len(r.Command) > 0:
		return output(ctx, r.Command)
	case r.Env != "":
		return os.Getenv(r.Env), nil
	}
	data, err := bounded.ReadFile(os.OpenFile, r.File, maxSecret)
	return string(data), cause(err)
}

// output runs a command in a session of its own, so that the command cannot use the terminal and is
// killed with all its children.
func output(ctx context.Context, argv []string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, commandTime, fmt.Errorf("the command took longer than %s", commandTime))
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out := &bounded.Buffer{Most: maxSecret + 1} // one more than a secret may have
	cmd.Stdout = out
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.String(), cause(err)
}

// cause returns an error without its path or program, because the message already has the
// reference.
func cause(err error) error {
	if program := (*exec.Error)(nil); errors.As(err, &program) {
		err = program.Err
	}
	return fault.WithoutPath(err)
}

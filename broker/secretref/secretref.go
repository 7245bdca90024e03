// Package secretref finds a secret of the person's where a reference says: in what a
// command prints, in an environment variable, or in a file. The configuration holds the
// reference and never the secret. No error contains what was found.
package secretref

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

	"golang.org/x/sys/unix"
)

// Reference says where a secret is. Exactly one member is set.
type Reference struct {
	Command []string // its standard output is the secret; no shell is involved
	Env     string   // a variable
	File    string   // an absolute path
}

// Limits of looking for a secret.
const (
	commandTime = 10 * time.Second
	maxSecret   = 64 << 10 // bytes
)

// String describes the reference, for messages. Of a command it names the program only,
// because arguments may be private.
func (r Reference) String() string {
	switch {
	case len(r.Command) > 0:
		return fmt.Sprintf("command %q", r.Command[0])
	case r.Env != "":
		return "variable " + r.Env
	}
	return fmt.Sprintf("file %q", r.File)
}

// Resolve returns the secret, without white space around it. A command gets this process's
// environment and no terminal, and ten seconds.
func (r Reference) Resolve(ctx context.Context) (string, error) {
	value, err := r.read(ctx)
	secret := strings.TrimSpace(value)
	switch {
	case err != nil:
	case secret == "":
		err = errors.New("it is empty")
	case len(value) > maxSecret:
		err = fmt.Errorf("it is longer than %d bytes", maxSecret)
	case strings.ContainsFunc(secret, func(c rune) bool { return c < ' ' || c > '~' }):
		err = errors.New("it is more than one line of plain characters")
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
	f, err := os.OpenFile(r.File, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe nobody writes to must not stop us
	if err != nil {
		return "", cause(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.Join(err, errors.New("it is not a regular file"))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	return string(data), cause(err)
}

// output runs a command in a session of its own, so that it cannot use the terminal and ends
// as a whole.
func output(ctx context.Context, argv []string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, commandTime, fmt.Errorf("it took longer than %s", commandTime))
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out := &bounded{}
	cmd.Stdout = out
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.String(), cause(err)
}

// bounded keeps the beginning of an output, one byte more than a secret may have.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), maxSecret+1-b.Len())])
	return len(p), nil
}

// cause returns an error without its path or program, which the message has already.
func cause(err error) error {
	var path *os.PathError
	var program *exec.Error
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &program):
		return program.Err
	}
	return err
}

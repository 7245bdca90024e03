package gitrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
)

// Command is one run of git.
type Command struct {
	Args []string
	Env  []string  // besides that of every run, for example the repository
	In   io.Reader // may be nil
	Out  io.Writer // may be nil; an error of a write ends the run and is returned
	// Indexes is how many bytes of pack indexes git may have to map.
	Indexes int64
	// Whole replaces the usual environment, with which git does not use the person's
	// configuration. It is for runs that a person has ordered. Nil: the usual one.
	Whole []string
	// Err gets all of git's standard error; may be nil. The error of the run has only the
	// beginning.
	Err io.Writer
	// File is inherited as descriptor 3; may be nil.
	File *os.File
}

// ErrNoGit means that git is not installed.
var ErrNoGit = errors.New("git is not installed on this machine")

// Limit is the error of a run that would have used more than its class allows.
type Limit struct{ What string }

func (l *Limit) Error() string { return l.What }

// maxComplaint is how much of git's standard error is kept, in bytes.
const maxComplaint = 2048

// maxIndexes bounds the address space for indexes of packs, because an agent may have made
// them.
const maxIndexes = 512 << 20

// Run waits for its turn in the class and runs the command.
func (c *Class) Run(ctx context.Context, cmd Command) error {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return fmt.Errorf("git %s: %w", verb(cmd.Args), context.Cause(ctx))
	}
	limited, cancel := context.WithTimeout(ctx, c.time)
	defer cancel()
	out := &output{w: cmd.Out}
	complaint := &bounded.Buffer{Most: maxComplaint} // git may report each of an agent's objects
	err := c.start(limited, cmd, out, complaint)
	said := strings.TrimSpace(complaint.String())
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return ErrNoGit
	case out.err != nil:
		return out.err
	case ctx.Err() != nil:
		return fmt.Errorf("git %s: %w", verb(cmd.Args), context.Cause(ctx))
	case limited.Err() != nil:
		return &Limit{fmt.Sprintf("git needs more than %v for %s", c.time, verb(cmd.Args))}
	case crashed(err), err != nil && outOfMemory(said):
		return &Limit{fmt.Sprintf("git needs more than %d MB of memory for %s", c.memory>>20, verb(cmd.Args))}
	case err != nil && said == "":
		return fmt.Errorf("git %s: %w", verb(cmd.Args), err)
	case err != nil:
		return fmt.Errorf("git %s: %.*q", verb(cmd.Args), maxComplaint, said)
	}
	return nil
}

// Output is Run that returns what git prints, at most the given number of bytes.
func (c *Class) Output(ctx context.Context, most int, cmd Command) ([]byte, error) {
	kept := &bounded.Buffer{Most: most, Err: &Limit{fmt.Sprintf("git prints more than %d bytes", most)}}
	cmd.Out = kept
	err := c.Run(ctx, cmd)
	return kept.Bytes(), err
}

// asGroup is the part of a shell script that runs git and, on SIGTERM, kills everything in
// its process group. Because it ignores signal 25 (SIGXFSZ), writing too large a file fails
// with an error.
const asGroup = `{ trap '' 25; trap 'kill -KILL 0' TERM; git "$@" & wait $!; }`

// start runs git and waits for its end. The goroutine stays on its thread, because the
// kernel ends git together with the thread that started it.
func (c *Class) start(ctx context.Context, cmd Command, out *output, complaint io.Writer) error {
	if _, err := exec.LookPath("git"); err != nil {
		return err
	}
	memory, seconds := c.memory, int64(c.time/time.Second)+2
	script := limited(memory, memory+mapped+min(max(cmd.Indexes, 0), maxIndexes), seconds)
	if c.file != 0 {
		script = limitedGroup(memory, c.file, seconds)
	}
	args := []string{"-c", script, "git"}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	run := exec.CommandContext(ctx, "/bin/sh", append(args, cmd.Args...)...)
	run.Dir = "/"
	run.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "MALLOC_ARENA_MAX=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0",
	}, cmd.Env...)
	if cmd.Whole != nil {
		run.Env = append(slices.Clone(cmd.Whole), cmd.Env...)
	}
	run.SysProcAttr = attributes()
	run.Cancel = func() error { return syscall.Kill(-run.Process.Pid, syscall.SIGTERM) } // it removes its locks
	run.WaitDelay = time.Second
	run.Stdin, run.Stderr = cmd.In, complaint
	if cmd.Err != nil {
		run.Stderr = io.MultiWriter(complaint, cmd.Err)
	}
	if cmd.File != nil {
		run.ExtraFiles = []*os.File{cmd.File}
	}
	if out.w != nil {
		run.Stdout = out
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return run.Run()
}

// crashed reports whether a signal ended git. Run has not sent one, so git has crashed, for example
// because thousands of nested trees have used up its stack.
func crashed(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// outOfMemory reports whether git's standard error says that it is out of memory.
func outOfMemory(complaint string) bool {
	complaint = strings.ToLower(complaint)
	return strings.Contains(complaint, "out of memory") || strings.Contains(complaint, "cannot allocate memory")
}

// verb returns git's command among the arguments.
func verb(args []string) string {
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

// output passes on what git prints. It keeps the error of a failed write, because git only
// sees that its pipe is closed.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	o.err = err
	return n, err
}

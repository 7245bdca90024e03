package docker

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// mmdebstrap writes the archive of a minimal Debian with the spec's packages to
// target. It works as root and, where user namespaces are allowed, as any other user.
// The mirror and the settings for reaching it come from the machine's own apt. None of
// them stay in the archive.
func mmdebstrap(ctx context.Context, spec ImageSpec, work, target string, say func(string)) error {
	program, err := exec.LookPath("mmdebstrap")
	if err != nil {
		return &fault.Error{
			Op: "make the root file system", Err: errors.New("mmdebstrap is not installed"),
			Next: "install mmdebstrap, or give the engine access to a registry",
		}
	}
	apt := readApt(ctx)
	args := []string{
		"--variant=minbase",
		"--include=" + strings.Join(spec.packages(), ","),
		"--dpkgopt=force-unsafe-io", // faster; an archive that a crash left unfinished is not used
		"--dpkgopt=path-exclude=/usr/share/man/*",
		"--dpkgopt=path-exclude=/usr/share/locale/*",
		"--dpkgopt=path-exclude=/usr/share/doc/*",
		`--essential-hook=mkdir -p "$1/usr/share/man/man1"`, // Java is not installed without it
		`--customize-hook=rm -f "$1/etc/apt/apt.conf.d/99mmdebstrap"`,
		`--customize-hook=: > "$1/etc/apt/sources.list"`,
	}
	if len(apt.options) > 0 {
		// The options go into a file, because they may contain a proxy's password, and
		// arguments are visible to every user of the machine.
		path := filepath.Join(work, "apt.conf")
		if err := os.WriteFile(path, []byte(strings.Join(apt.options, "\n")+"\n"), 0o600); err != nil {
			return err
		}
		args = append(args, "--aptopt="+path)
	}
	args = append(args, spec.rootfs.suite, target)
	if sources := apt.sources(spec.rootfs.suite); len(sources) > 0 {
		path := filepath.Join(work, "sources.list")
		if err := os.WriteFile(path, []byte(strings.Join(sources, "\n")+"\n"), 0o600); err != nil {
			return err
		}
		args = append(args, path)
		say("mmdebstrap: from the mirror in this machine's apt configuration")
	} else {
		say("mmdebstrap: from its own default mirror, as this machine's apt has no " + spec.rootfs.suite)
	}
	// mmdebstrap does not clean up when it is stopped right after its start, so it gets a directory
	// of its own, which is removed here. It is not below the cache, because mmdebstrap could not
	// enter that in a user namespace.
	tmp, err := os.MkdirTemp("", "ironcurtain-base-")
	if err != nil {
		return err
	}
	if tmp, err = filepath.EvalSymlinks(tmp); err != nil {
		return err
	}
	defer removeUnmounted(tmp)
	if err := os.Chmod(tmp, 0o711); err != nil { //nolint:gosec // the builder's unprivileged user must pass through
		return err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	return runBuilder(ctx, cmd, say)
}

// removeUnmounted removes a directory tree unless something is still mounted in it,
// because the content of the mount would be removed as well.
func removeUnmounted(dir string) {
	mounts, err := mountinfo()
	if err != nil || bytes.Contains(mounts, []byte(" "+dir+"/")) {
		return
	}
	_ = os.RemoveAll(dir)
}

// runBuilder runs a helper program and reports its lines of output. When the context
// ends, it stops the program and its children.
func runBuilder(ctx context.Context, cmd *exec.Cmd, say func(string)) error {
	last := &lineSplitter{say: say}
	cmd.Stdout, cmd.Stderr = last, last
	endGroup(cmd)
	err := cmd.Run()
	last.flush()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, oneLine(last.errorLine()))
	}
	return nil
}

// endGroup makes the command's context, when it ends, send SIGTERM to the program and all its
// children, so that they can clean up.
func endGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
}

// lineSplitter splits a program's output into lines and remembers the last ones.
type lineSplitter struct {
	say  func(string)
	rest []byte
	tail []string
}

func (t *lineSplitter) Write(p []byte) (int, error) {
	t.rest = append(t.rest, p...)
	for {
		i := bytes.IndexAny(t.rest, "\r\n")
		if i < 0 {
			if len(t.rest) > bufio.MaxScanTokenSize {
				t.rest = t.rest[:0]
			}
			return len(p), nil
		}
		t.line(string(t.rest[:i]))
		t.rest = t.rest[i+1:]
	}
}

func (t *lineSplitter) flush() { t.line(string(t.rest)); t.rest = nil }

func (t *lineSplitter) line(line string) {
	line = plainLine(line)
	if line == "" {
		return
	}
	t.tail = append(t.tail, line)
	if len(t.tail) > 20 {
		t.tail = t.tail[1:]
	}
	t.say(line)
}

// errorLine returns the line that most likely says what went wrong.
func (t *lineSplitter) errorLine() string {
	for _, line := range slices.Backward(t.tail) {
		if strings.HasPrefix(line, "E:") || strings.Contains(strings.ToLower(line), "error") {
			return line
		}
	}
	if len(t.tail) > 0 {
		return t.tail[len(t.tail)-1]
	}
	return "no output"
}

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Policy says what happens on a machine without sandboxes.
type Policy string

// The two policies.
const (
	Enforce Policy = "enforce" // no server starts
	Warn    Policy = "warn"    // servers start without a sandbox, with a warning
)

// goWithout is the hint on how to run servers without a sandbox.
const goWithout = `run servers without a sandbox ("sandboxPolicy": "warn" in config.json, --sandbox-policy warn for proxy mcp)`

// Options describe the sandboxes of one session.
type Options struct {
	Dir       string   // the session's directory, writable in every sandbox
	Runtime   []string // argv of srt
	Policy    Policy   // empty means Enforce
	UserHome  string   // the person's home directory
	StateHome string   // the program's state, which servers cannot read
	Programs  []string // directories with programs of the servers: readable, also in a view
	Readable  []string // paths that are readable even in StateHome or a directory that is hidden by default
	// Warn is called once with the warning that servers run without a sandbox. It may be nil.
	Warn func(string)
}

// Host starts the servers of one session.
type Host struct {
	options     Options
	scratch     string // settings, private directories, canaries, the temporary files of srt
	unavailable error  // why there are no sandboxes; nil if there are

	find     sync.Once
	programs []string // set by needed
}

// New checks whether this machine can sandbox servers. If it cannot, New fails under
// Enforce and warns under Warn.
func New(ctx context.Context, o Options) (*Host, error) {
	if o.Policy == "" {
		o.Policy = Enforce
	}
	if o.Policy != Enforce && o.Policy != Warn {
		return nil, fmt.Errorf("sandbox: unknown policy %q", o.Policy)
	}
	if !filepath.IsAbs(o.Dir) {
		return nil, fmt.Errorf("sandbox: %q is not an absolute path", o.Dir)
	}
	h := &Host{options: o}
	if h.unavailable = available(ctx, o.Runtime); h.unavailable != nil {
		var why *fault.Error
		if !errors.As(h.unavailable, &why) {
			why = &fault.Error{Op: "sandbox", Err: h.unavailable}
		}
		if o.Policy == Enforce {
			return nil, &fault.Error{Op: "sandbox", Err: fmt.Errorf(`sandboxPolicy is "enforce", but sandboxing is unavailable: %w`, why.Err), Next: why.Next}
		}
		if o.Warn != nil {
			o.Warn(fmt.Sprintf(`[sandbox] WARNING: OS-level sandboxing is unavailable (%v); servers that require it run without OS containment, `+
				`the policy engine remains active. Set "sandboxPolicy": "enforce" to require it; to have it: %s`, why.Err, why.Next))
		}
	}
	dir, err := os.MkdirTemp(shortTemp(), "ironcurtain-srt-")
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	if h.scratch, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox: %w", err), os.RemoveAll(dir))
	}
	return h, nil
}

// longestTemp is how long the path of the temporary directory may be, in bytes. The paths of the sockets
// that srt makes two directories below are at most 74 bytes longer, and the system allows 107.
const longestTemp = 32

// shortTemp returns the directory for temporary files, or /tmp if its path is too long.
func shortTemp() string {
	if dir, err := filepath.EvalSymlinks(os.TempDir()); err == nil && len(dir) <= longestTemp {
		return dir
	}
	return "/tmp"
}

// Close removes the settings and private directories. The servers must have been stopped.
// The removal has a time limit, because the servers could fill these directories.
func (h *Host) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), removeTime)
	defer cancel()
	return dirtree.Remove(ctx, h.scratch)
}

// removeTime bounds Close.
const removeTime = time.Second

// Scratch returns the directory with the settings and private directories. If this process is
// killed, any other process may remove it.
func (h *Host) Scratch() string { return h.scratch }

// Unavailable returns an error that says why this machine has no sandboxes, or nil.
func (h *Host) Unavailable() error { return h.unavailable }

// available checks that the machine has what the runtime needs, including that bubblewrap can make
// namespaces.
func available(ctx context.Context, argv []string) error {
	if len(argv) == 0 {
		return &fault.Error{Op: "sandbox", Err: errors.New("the sandbox runtime is not installed"), Next: "install Node.js and npm"}
	}
	switch runtime.GOOS {
	case "darwin":
		return nil
	case "linux":
	default:
		return &fault.Error{Op: "sandbox", Err: fmt.Errorf("%s has no sandbox", runtime.GOOS), Next: "use Linux or macOS, or " + goWithout}
	}
	var missing []string
	for program, pkg := range map[string]string{"bwrap": "bubblewrap", "socat": "socat"} {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, pkg)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return &fault.Error{Op: "sandbox", Err: fmt.Errorf("missing: %s", strings.Join(missing, ", ")), Next: "apt-get install -y " + strings.Join(missing, " ")}
	}
	if !namespaces.Load() {
		if err := tryNamespaces(ctx); err != nil {
			return err
		}
		namespaces.Store(true)
	}
	return nil
}

// namespaces is set when bubblewrap has made namespaces in this process. If bubblewrap fails later,
// no server starts, so the check need not be repeated.
var namespaces atomic.Bool

// tryNamespaces calls makeNamespaces, and retries it because a failure may be temporary (see
// startTries).
func tryNamespaces(ctx context.Context) (err error) {
	for range startTries {
		if err = makeNamespaces(ctx); err == nil || ctx.Err() != nil {
			break
		}
	}
	return err
}

// makeNamespaces runs a command under bubblewrap like a server.
func makeNamespaces(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bwrap", "--ro-bind", "/", "/", "--unshare-user", "--unshare-pid",
		"--unshare-net", "--die-with-parent", "--", "/bin/sh", "-c", ":")
	// If bwrap alone is killed early, its child stays and keeps our pipe open, so the whole group is
	// killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = termGrace
	out, err := cmd.CombinedOutput()
	if err != nil {
		text := strings.TrimSpace(string(out))
		return &fault.Error{
			Op:   "sandbox",
			Err:  fmt.Errorf("bubblewrap cannot make a namespace: %w: %.200s", err, text),
			Next: "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone, AppArmor), or " + goWithout,
		}
	}
	return nil
}

// blocked are parts of the error messages of programs that a sandbox has refused something.
var blocked = []string{"eacces", "eperm", "erofs", "operation not permitted", "permission denied", "read-only file system"}

// Annotate marks an error text of a sandboxed server if it looks like a refusal by the sandbox, so
// that the agent does not retry.
func Annotate(text string, sandboxed bool) string {
	if !sandboxed {
		return text
	}
	lower := strings.ToLower(text)
	for _, b := range blocked {
		if strings.Contains(lower, b) {
			return "[SANDBOX BLOCKED] " + text
		}
	}
	return text
}

package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	engine "github.com/fsouza/go-dockerclient"
)

// LabelManaged marks every container that this program created. Containers without it
// are never removed.
const LabelManaged = "ironcurtain.managed"

// Spec says which container to start. The rest is fixed: no network, no capabilities,
// no new privileges, a read-only root, the engine's default seccomp profile, an init
// process, no restart.
type Spec struct {
	Image      string
	Name       string // empty: the engine's choice
	Cmd        []string
	Env        []string // "NAME=value"
	User       string   // "uid:gid", required; never root, but see validateUser
	WorkingDir string
	Hostname   string
	Mounts     []Mount
	Volumes    []VolumeMount
	Tmpfs      []Tmpfs           // besides those that every container has
	Labels     map[string]string // LabelManaged is added
	MemoryMB   int               // MiB; 0: 4096; at most three quarters of the engine's memory
	CPUs       float64           // 0: 2; at most what the engine has
	Pids       int               // processes and threads; 0: 2048
	Cols, Rows int               // of the terminal; 0: 80×24
	// Waits says that the command itself waits until its terminal has a size. Otherwise the image's
	// shell runs first and sets the size.
	Waits   bool
	Runtime string // of the engine, such as "runsc"; empty: the engine's default

	// Detached is for a program that reads no input and whose output nobody reads or
	// keeps: no terminal, no attachment, no log. Only StartDetached takes it.
	Detached bool
}

// Mount binds a path of the host into the container.
type Mount struct {
	Source   string // absolute; must exist
	Target   string // absolute
	ReadOnly bool
}

// Tmpfs is an empty directory in memory, of 64 MiB at most, from which no program can run. Mount
// points below it are made in it if the image does not have them, with the mode 0755. Some runtimes
// (measured: runc 1.1) give it the mode of the image's directory at the target, if there is one. So
// put MountPoint into the image's layer.
type Tmpfs struct {
	Target string      // absolute
	Mode   fs.FileMode // permissions and fs.ModeSticky; 0: everybody may write, 01777
}

// Defaults for fields of a Spec that are zero.
const (
	defaultMemoryMB = 4096
	defaultCPUs     = 2
	defaultPids     = 2048
	defaultCols     = 80
	defaultRows     = 24
)

// validate refuses values that the engine, rootless or not, would accept but must not get.
func (s Spec) validate(rootless bool) error {
	switch {
	case s.Image == "":
		return because(ErrSpec, "no image is named")
	case len(s.Cmd) == 0:
		return because(ErrSpec, "no command is given")
	case s.MemoryMB < 0 || s.CPUs < 0 || s.Pids < 0:
		return because(ErrSpec, "a limit is negative")
	case s.MemoryMB > 0 && s.MemoryMB < 6:
		return because(ErrSpec, "%d MB of memory are less than the engine accepts", s.MemoryMB)
	case s.Cols < 0 || s.Rows < 0 || s.Cols > 65535 || s.Rows > 65535:
		return because(ErrSpec, "%d×%d is not the size of a terminal", s.Cols, s.Rows)
	}
	if err := validateUser(s.User, rootless); err != nil {
		return err
	}
	return s.validateMounts()
}

// validateMounts refuses mounts that are not usable, and two mounts on one target.
func (s Spec) validateMounts() error {
	seen := map[string]bool{}
	once := func(target string, err error) error {
		target = path.Clean(target)
		if err == nil && seen[target] {
			err = because(ErrMount, "%s is mounted twice", target)
		}
		seen[target] = true
		return err
	}
	for _, m := range s.Mounts {
		if err := once(m.Target, m.validate()); err != nil {
			return err
		}
	}
	for target := range temporary {
		seen[target] = true
	}
	for _, v := range s.Volumes {
		if err := once(v.Target, v.validate()); err != nil {
			return err
		}
	}
	for _, t := range s.Tmpfs {
		if err := once(t.Target, t.validate()); err != nil {
			return err
		}
	}
	return nil
}

// validate refuses a target that cannot be a mount point, and modes with other bits than permissions
// and fs.ModeSticky.
func (t Tmpfs) validate() error {
	if !path.IsAbs(t.Target) || path.Clean(t.Target) == "/" || strings.ContainsAny(t.Target, ":,") {
		return because(ErrMount, "memory at %q: the target must be absolute, not the root, and without colon and comma", t.Target)
	}
	if t.Mode&^(fs.ModePerm|fs.ModeSticky) != 0 {
		return because(ErrMount, "memory at %s: it cannot have the mode %s", t.Target, t.Mode)
	}
	return nil
}

// mode returns the directory's mode, or the default one.
func (t Tmpfs) mode() fs.FileMode {
	if t.Mode == 0 {
		return fs.ModeSticky | 0o777
	}
	return t.Mode
}

// options returns the mount options.
func (t Tmpfs) options() string {
	return fmt.Sprintf("rw,noexec,nosuid,nodev,mode=%04o,size=64m", unixMode(t.mode()))
}

// MountPoint returns the directory that the image must have at the target, so that every runtime
// gives the tmpfs its mode.
func (t Tmpfs) MountPoint() LayerFile {
	return LayerFile{Path: path.Clean(t.Target), Dir: true, Mode: t.mode()}
}

// validateUser requires two numbers, so that no passwd file of an image decides which user the agent
// is. Neither may be 0, which is root. With a rootless engine, 0:0 is allowed: it is not root outside
// the container (see KeepsUser).
func validateUser(user string, rootless bool) error {
	if rootless && user == rootUser {
		return nil
	}
	uid, gid, ok := strings.Cut(user, ":")
	for _, n := range []string{uid, gid} {
		id, err := strconv.ParseUint(n, 10, 31)
		if !ok || err != nil {
			return because(ErrSpec, "user %q is not of the form uid:gid", user)
		}
		if id == 0 {
			return because(ErrSpec, "user %q is root", user)
		}
	}
	return nil
}

// validate refuses a mount whose source does not exist, because the engine may create
// a directory owned by root there.
func (m Mount) validate() error {
	if !filepath.IsAbs(m.Source) || !path.IsAbs(m.Target) || path.Clean(m.Target) == "/" {
		return because(ErrMount, "%q to %q: both paths must be absolute, and the target not the root", m.Source, m.Target)
	}
	_, err := os.Stat(m.Source)
	if errors.Is(err, fs.ErrNotExist) {
		return because(ErrMount, "%s does not exist", m.Source)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMount, err)
	}
	resolved, err := filepath.EvalSymlinks(m.Source)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMount, err)
	}
	if isSocket(resolved) && strings.HasSuffix(resolved, "docker.sock") {
		return because(ErrMount, "%s is the engine's own socket", m.Source)
	}
	return nil
}

// size returns the terminal's size, or the default one.
func (s Spec) size() (cols, rows int) {
	cols, rows = s.Cols, s.Rows
	if cols == 0 || rows == 0 {
		cols, rows = defaultCols, defaultRows
	}
	return cols, rows
}

// config returns the part of the specification that describes the process.
func (s Spec) config() *engine.Config {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[LabelManaged] = "true"
	return &engine.Config{
		Image:        s.Image,
		Entrypoint:   []string{""}, // none; Podman takes an empty list as the image's entrypoint
		Cmd:          s.command(),
		Env:          s.Env,
		User:         s.User,
		WorkingDir:   s.WorkingDir,
		Hostname:     s.Hostname,
		Labels:       labels,
		Tty:          !s.Detached,
		OpenStdin:    !s.Detached,
		AttachStdin:  !s.Detached,
		AttachStdout: !s.Detached,
		AttachStderr: !s.Detached,
		StdinOnce:    false, // a lost attachment must not end the agent
		StopTimeout:  10,
		Healthcheck:  &engine.HealthConfig{Test: []string{"NONE"}}, // not the image's
	}
}

// command returns the command line of the container. Engines before API 1.42 start a terminal with
// size 0×0 and accept a size only afterwards, so a fast program would see 0×0. Therefore the image's
// shell sets the size and then executes the command, unless the command itself waits for a size.
func (s Spec) command() []string {
	if s.Detached || s.Waits {
		return s.Cmd
	}
	cols, rows := s.size()
	set := fmt.Sprintf(`stty cols %d rows %d 2>/dev/null; exec "$@"`, cols, rows)
	return append([]string{"/bin/sh", "-c", set, "sh"}, s.Cmd...)
}

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stage"
)

// View is all that a server sees of the machine besides the system's programs and its own.
// It takes the place of what Spec.Sandbox says of the file system. It is for servers that
// carry out calls on files outside the session's directory.
type View struct {
	Stage  string       // the directory that becomes the root
	Copies []string     // directories of the stage that contain copies; they can be written
	Binds  []stage.Bind // files and directories that are seen as they are
}

// Views returns why servers of this machine cannot be given a view, or nil.
func (h *Host) Views() error {
	if h.unavailable == nil && runtime.GOOS != "linux" {
		return fmt.Errorf("sandboxes of %s do not allow it", runtime.GOOS)
	}
	return h.unavailable
}

// system are the directories that programs need. Every view has them, read-only.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap"}

// ofSystem reports whether a path lies in a directory that every view has.
func ofSystem(path string) bool { return slices.Contains(system, stage.Top(path)) }

// CheckView returns why a server cannot carry out a plan in a view, or nil.
func (h *Host) CheckView(p *stage.Plan) error {
	mounts := map[string]bool{}
	for _, dir := range p.Directories() {
		for _, needed := range h.needed() {
			if stage.Within(dir, needed) {
				return fmt.Errorf("tool servers cannot change files in %s, because they run programs from %s", dir, needed)
			}
		}
		if ofSystem(dir) {
			mounts[dir] = true
		} else {
			mounts["/"] = true
		}
	}
	if p.Removes() && len(mounts) > 1 {
		return fmt.Errorf("tool servers cannot move files between these directories: %s", strings.Join(p.Directories(), ", "))
	}
	return nil
}

// needed returns the directories with the programs of every server. It looks for them once.
func (h *Host) needed() []string {
	h.find.Do(func() { h.programs = h.findPrograms() })
	return h.programs
}

func (h *Host) findPrograms() []string {
	dirs := slices.Clone(h.options.Programs)
	words := slices.Clone(h.options.Runtime)
	for _, name := range []string{"sh", "bash", "env", "socat", "bwrap", "stat"} {
		if path, err := exec.LookPath(name); err == nil {
			words = append(words, path)
		}
	}
	for _, word := range words {
		if !filepath.IsAbs(word) {
			continue
		}
		dirs = append(dirs, filepath.Dir(word))
		if resolved, err := filepath.EvalSymlinks(word); err == nil {
			dirs = append(dirs, filepath.Dir(resolved))
		}
	}
	for _, lib := range []string{"/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32"} {
		if resolved, err := filepath.EvalSymlinks(lib); err == nil {
			dirs = append(dirs, resolved)
		}
	}
	if info, err := os.Stat(alternatives); err == nil && info.IsDir() {
		dirs = append(dirs, alternatives)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// alternatives contains links by which programs are found on Debian and its like.
const alternatives = "/etc/alternatives"

// writable returns the directories that a server with this view can write.
func (v *View) writable() []string {
	var all []string
	common := ""
	for _, dir := range v.Copies {
		switch {
		case ofSystem(dir):
			all = append(all, dir)
		case common == "":
			common = dir
		default: // files can only be moved in one writable directory
			for !stage.Within(dir, common) {
				common = filepath.Dir(common)
			}
		}
	}
	if common != "" {
		all = append(all, common)
	}
	for _, b := range v.Binds {
		if b.Writable {
			all = append(all, b.Path)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// usesTmp reports whether copies lie in /tmp, which otherwise is empty in a view.
func (v *View) usesTmp() bool {
	return slices.ContainsFunc(v.Copies, func(dir string) bool { return stage.Top(dir) == "/tmp" })
}

// wrap returns a command that runs another one in the view. The runtime of the sandbox runs
// in the view, too, and confines the server in the usual way.
func (h *Host) wrap(v *View, out *Outlet, private string, argv []string) ([]string, error) {
	args := []string{"bwrap", "--bind", v.Stage, "/"}
	for _, dir := range system {
		info, err := os.Lstat(dir)
		if err != nil {
			continue
		}
		if info.Mode()&os.ModeSymlink == 0 {
			args = append(args, "--ro-bind", dir, dir)
			continue
		}
		target, err := os.Readlink(dir)
		if err == nil {
			err = os.Symlink(target, filepath.Join(v.Stage, dir))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	args = append(args, "--dev-bind", "/dev", "/dev", "--dev-bind", "/proc", "/proc")
	if !v.usesTmp() {
		args = append(args, "--tmpfs", "/tmp")
	}
	for _, dir := range v.Copies {
		if ofSystem(dir) {
			args = append(args, "--bind", filepath.Join(v.Stage, dir), dir)
		}
	}
	for _, b := range v.Binds {
		args = append(args, map[bool]string{true: "--bind", false: "--ro-bind"}[b.Writable], b.Path, b.Path)
	}
	for _, dir := range h.needed() {
		hidden := slices.ContainsFunc(v.Copies, func(over string) bool { return stage.Within(dir, over) })
		if hidden || !ofSystem(dir) {
			args = append(args, "--ro-bind", dir, dir)
		}
	}
	if out != nil {
		for _, path := range append([]string{out.Socket}, out.Seen...) {
			args = append(args, "--ro-bind", path, path)
		}
	}
	if names, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil && !ofSystem(names) {
		args = append(args, "--ro-bind", names, names)
	}
	args = append(args, "--ro-bind", h.scratch, h.scratch, "--bind", private, private, "--")
	return append(args, argv...), nil
}

// errExchanged is the error of a view whose bind is not what was judged.
var errExchanged = errors.New("it has changed since the call was judged")

// Key is equal for views in which the same server can carry out calls.
func (v *View) Key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %q ", v.usesTmp(), v.writable())
	for _, bind := range v.Binds {
		s, _ := bind.Info.Sys().(*syscall.Stat_t)
		fmt.Fprintf(&b, "%q=%d:%d ", bind.Path, s.Dev, s.Ino)
	}
	return b.String()
}

// identify returns a command that prints the identities of the view's binds.
func (v *View) identify() string {
	if v == nil || len(v.Binds) == 0 {
		return ""
	}
	paths := []string{"stat", "-c", " %d:%i", "--"}
	for _, b := range v.Binds {
		paths = append(paths, b.Path)
	}
	return quote(paths) + ` | tr -d '\n'; `
}

// check compares the identities of the binds with the judged ones.
func (v *View) check(found []string) error {
	if v == nil {
		return nil
	}
	if len(found) != len(v.Binds) {
		return errors.New("the sandbox did not report what it contains")
	}
	for i, b := range v.Binds {
		s, ok := b.Info.Sys().(*syscall.Stat_t)
		if !ok || found[i] != fmt.Sprintf("%d:%d", s.Dev, s.Ino) {
			return fmt.Errorf("%s: %w", b.Path, errExchanged)
		}
	}
	return nil
}

// viewSettings returns what the sandbox's runtime has to allow in the view. Of what servers
// may not read, the view contains only what lies in a directory that is bound.
func (h *Host) viewSettings(v *View, private string) filesystemSettings {
	f := filesystemSettings{
		DenyRead: []string{}, AllowRead: []string{}, DenyWrite: []string{},
		AllowWrite: append([]string{private}, v.writable()...),
	}
	for _, path := range h.unreadable() {
		if slices.ContainsFunc(v.Binds, func(b stage.Bind) bool { return b.Path != path && stage.Within(path, b.Path) }) {
			f.DenyRead = append(f.DenyRead, path)
		}
	}
	for _, b := range v.Binds {
		if among(b.Path, f.DenyRead) {
			f.AllowRead = append(f.AllowRead, b.Path)
		}
	}
	return f
}

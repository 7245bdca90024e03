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

// View is all that a server sees of the file system, in addition to the system's programs and its
// own. It replaces Spec.Sandbox.Filesystem. It is for servers that carry out calls on files outside
// the session's directory.
type View struct {
	Stage  string       // the directory that becomes the root
	Copies []string     // directories of the stage that contain copies; the server can write to them
	Binds  []stage.Bind // files and directories that the server sees themselves, not as copies
}

// Views returns an error if servers on this machine cannot have a view.
func (h *Host) Views() error {
	if h.unavailable == nil && runtime.GOOS != "linux" {
		return fmt.Errorf("sandboxes on %s cannot show single files to a server", runtime.GOOS)
	}
	return h.unavailable
}

// system are the directories that programs need. Every view has them, read-only.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap"}

// ofSystem reports whether a path lies in a directory that every view has.
func ofSystem(path string) bool { return slices.Contains(system, stage.Top(path)) }

// CheckView returns an error if a server cannot carry out a plan in a view.
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

// needed returns the directories with the programs that every server needs. It finds them only once.
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

// alternatives is the directory with the links to programs on Debian and its derivatives.
const alternatives = "/etc/alternatives"

// writable returns the directories to which a server with this view can write.
func (v *View) writable() []string {
	var all []string
	common := ""
	for _, dir := range v.Copies {
		switch {
		case ofSystem(dir):
			all = append(all, dir)
		case common == "":
			common = dir
		default: // one directory for all: files cannot be moved between two
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

// usesTmp reports whether there are copies in /tmp. Otherwise /tmp is empty in a view.
func (v *View) usesTmp() bool {
	return slices.ContainsFunc(v.Copies, func(dir string) bool { return stage.Top(dir) == "/tmp" })
}

// wrap returns a command that runs argv in the view. argv is the sandbox's runtime, which confines
// the server as usual.
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

// errReplaced means that a bind of a view is not the file that was judged.
var errReplaced = errors.New("the file or directory was replaced after the call was judged")

// Key returns the same text for views in which the same process of a server can carry out calls.
func (v *View) Key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %q ", v.usesTmp(), v.writable())
	for _, bind := range v.Binds {
		s, _ := bind.Info.Sys().(*syscall.Stat_t)
		fmt.Fprintf(&b, "%q=%d:%d ", bind.Path, s.Dev, s.Ino)
	}
	return b.String()
}

// identify returns shell code that prints the identities of the view's binds.
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

// check fails if the identities of the binds differ from the judged ones.
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
			return fmt.Errorf("%s: %w", b.Path, errReplaced)
		}
	}
	return nil
}

// viewSettings returns the runtime's settings for the file system in the view. Of the paths that
// servers may not read, the view contains only those in bound directories.
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

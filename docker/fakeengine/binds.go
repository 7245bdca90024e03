package fakeengine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// changeBinds changes which paths of the host are bound into a container.
func (e *Engine) changeBinds(host map[string]any, f Faults) *refusal {
	mounts, _ := host["Mounts"].([]any)
	for _, m := range mounts {
		mount, _ := m.(map[string]any)
		source, _ := mount["Source"].(string)
		if mount["Type"] != "bind" {
			continue
		}
		if f.RefuseSockets && holdsSocket(source) {
			return &refusal{http.StatusBadRequest, fmt.Sprintf(`invalid mount config for type "bind": bind source path does not exist: /socket_mnt%s`, source)}
		}
		changed, err := e.replacement(source, f)
		if err != nil {
			return &refusal{http.StatusInternalServerError, err.Error()}
		}
		mount["Source"] = changed
	}
	binds, _ := host["Binds"].([]any)
	for i, b := range binds {
		text, _ := b.(string)
		source, rest, _ := strings.Cut(text, ":")
		if !filepath.IsAbs(source) { // a volume
			continue
		}
		if f.RefuseSockets && holdsSocket(source) {
			return &refusal{http.StatusBadRequest, fmt.Sprintf("error while creating mount source path '/host_mnt%[1]s': mkdir /host_mnt%[1]s: operation not supported", source)}
		}
		changed, err := e.replacement(source, f)
		if err != nil {
			return &refusal{http.StatusInternalServerError, err.Error()}
		}
		binds[i] = changed + ":" + rest
	}
	return nil
}

// replacement returns the path that is bound in place of source: often source itself.
func (e *Engine) replacement(source string, f Faults) (string, error) {
	info, err := os.Stat(source)
	if err != nil {
		return source, nil // the real engine says what is wrong
	}
	unshared := f.Unshared == nil || f.Unshared(source)
	empty := f.EmptyBinds && unshared
	copied := f.OtherInodes && unshared || f.DeadSockets && holdsSocket(source)
	if !empty && !copied {
		return source, nil
	}
	parent, err := os.MkdirTemp(e.dir, "b")
	if err != nil {
		return "", err
	}
	// The base name stays, for programs that show it.
	target := filepath.Join(parent, filepath.Base(source))
	if !empty {
		return target, copyTree(target, source)
	}
	if info.IsDir() {
		err = os.Mkdir(target, 0o700)
	} else {
		err = os.WriteFile(target, nil, 0o600)
	}
	return target, errors.Join(err, likeOriginal(target, info))
}

// holdsSocket reports whether a path is a Unix socket or a directory with one.
func holdsSocket(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	if !info.IsDir() {
		return info.Mode().Type() == fs.ModeSocket
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return false
	}
	for _, entry := range entries {
		if entry.Type() == fs.ModeSocket {
			return true
		}
	}
	return false
}

// copyTree copies a file or a directory. Sockets become sockets where nobody listens.
// Other special files are left out.
func copyTree(target, source string) error {
	source, err := filepath.EvalSymlinks(source)
	if err != nil {
		return err
	}
	var directories []string // their modes may forbid writing, so they come last
	err = filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			directories = append(directories, below)
			return os.Mkdir(filepath.Join(target, below), 0o700)
		}
		err = copyFile(filepath.Join(target, below), path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it has gone in the meantime
		}
		return err
	})
	for i := len(directories) - 1; i >= 0 && err == nil; i-- {
		var info fs.FileInfo
		if info, err = os.Lstat(filepath.Join(source, directories[i])); err == nil {
			err = likeOriginal(filepath.Join(target, directories[i]), info)
		}
	}
	return err
}

// copyFile copies anything that is not a directory.
func copyFile(target, source string) error {
	info, err := os.Lstat(source)
	if err != nil {
		return err
	}
	switch info.Mode().Type() {
	case fs.ModeSymlink:
		to, err := os.Readlink(source)
		if err == nil {
			err = os.Symlink(to, target)
		}
		return err
	case fs.ModeSocket:
		err = deadSocket(target)
	case 0:
		err = copyContent(target, source)
	default:
		return nil
	}
	return errors.Join(err, likeOriginal(target, info))
}

func copyContent(target, source string) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// deadSocket makes a socket where nobody listens.
func deadSocket(path string) error {
	// It is made elsewhere, because the path may be too long for a socket's address.
	dir, err := os.MkdirTemp("", "ice")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	short := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	return errors.Join(l.Close(), os.Rename(short, path))
}

// likeOriginal gives a copy the mode, the times and, where possible, the owner of its
// original.
func likeOriginal(path string, original fs.FileInfo) error {
	if stat, ok := original.Sys().(*syscall.Stat_t); ok {
		if err := os.Lchown(path, int(stat.Uid), int(stat.Gid)); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	// Changing the owner clears bits of the mode, so the mode is set afterwards.
	if err := os.Chmod(path, original.Mode()); err != nil {
		return err
	}
	return os.Chtimes(path, original.ModTime(), original.ModTime())
}

package dpkg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Environment returns env with the directories of unpacked programs and libraries, after those
// that are there already.
func (r Root) Environment(env []string) []string {
	below := func(dirs ...string) string {
		for i, dir := range dirs {
			dirs[i] = filepath.Join(r.files(), dir)
		}
		return strings.Join(dirs, ":")
	}
	libraries := []string{"usr/lib", "lib"}
	if triplet := triplet(); triplet != "" {
		libraries = append([]string{"usr/lib/" + triplet, "lib/" + triplet}, libraries...)
	}
	env = extended(env, "PATH", below("usr/local/bin", "usr/bin", "bin", "usr/sbin", "sbin", "usr/games"))
	return extended(env, "LD_LIBRARY_PATH", below(libraries...))
}

// extended returns env with more at the end of a list of directories.
func extended(env []string, name, more string) []string {
	for i, v := range env {
		if list, ok := strings.CutPrefix(v, name+"="); ok && list != "" {
			env = slices.Clone(env)
			env[i] = v + ":" + more
			return env
		}
	}
	return append(slices.Clone(env), name+"="+more)
}

// triplet is the name that Debian gives the directories of this machine's libraries, or "".
func triplet() string {
	found, _ := filepath.Glob("/usr/lib/*-linux-gnu*") // the pattern is well-formed
	if len(found) == 0 {
		return ""
	}
	return filepath.Base(found[0])
}

// debTool runs the image's dpkg-deb and returns what it prints.
func debTool(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "dpkg-deb", args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(complaint.String()); text != "" {
			err = errors.New(text)
		}
		return "", fmt.Errorf("dpkg-deb %s: %w", args[0], err)
	}
	return out.String(), nil
}

// listed are the files that came with a package, below the root.
func (r Root) listed(name string) ([]string, error) {
	data, err := os.ReadFile(r.list(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return lines(string(data)), err
}

// lines are the lines of a list of files.
func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

// delete removes files, and directories that have become empty.
func (r Root) delete(paths []string) error {
	root, err := os.OpenRoot(r.files())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	for _, path := range slices.Backward(paths) {
		info, err := root.Lstat(filepath.Clean(path))
		switch {
		case errors.Is(err, fs.ErrNotExist) || filepath.Clean(path) == ".":
			continue
		case err != nil:
			return err
		}
		if err := root.Remove(filepath.Clean(path)); err != nil && !info.IsDir() {
			return err
		}
	}
	return nil
}

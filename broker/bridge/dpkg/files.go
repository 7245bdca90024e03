package dpkg

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Environment adds the directories of unpacked programs and libraries at the end of the search paths
// of env.
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

// extended returns env with more directories at the end of a variable's list.
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

// triplet is Debian's name of this architecture in library directories, or "".
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

// stays returns an error if an archive would be unpacked outside of the root: a link of another
// package leads out of it, and this one has a file behind that link. Links within one archive need no
// check, because tar does not follow them.
func (r Root) stays(ctx context.Context, archive string) error {
	root, err := os.OpenRoot(r.files())
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there are no links yet
	}
	if err != nil {
		return err
	}
	defer root.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", archive)
	files, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	err = within(root, tar.NewReader(files))
	cancel()
	_ = cmd.Wait() // it was killed; --vextract reports errors of the archive
	return err
}

// within returns an error if a file of an archive would be unpacked outside of the root.
func within(root *os.Root, files *tar.Reader) error {
	made := map[string]bool{".": true} // directories of the archive, which replace links
	for {
		h, err := files.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil || len(h.PAXRecords) > 0 { // dpkg ignores such records, and package tar does not
			return errors.New("its list of files is malformed, or means different files to dpkg")
		}
		names := []string{h.Name}
		if h.Typeflag == tar.TypeLink {
			names = append(names, h.Linkname)
		}
		for _, name := range names {
			dir := filepath.Dir(filepath.Join(".", name))
			if made[dir] {
				continue
			}
			if _, err := root.Stat(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("a link of another package would lead %q out of the directory of packages: remove that package first", name)
			}
		}
		if h.Typeflag == tar.TypeDir {
			made[filepath.Join(".", h.Name)] = true //nolint:gosec // no file of that name is opened
		}
	}
}

// listed returns the files of a package, below the root.
func (r Root) listed(name string) ([]string, error) {
	data, err := os.ReadFile(r.list(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return lines(string(data)), err
}

// lines splits a list of files.
func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

// delete removes files, and directories that are empty then.
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

package toolchain

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"
)

// Needs is what a workspace asks for.
type Needs struct {
	Toolchains []string // by name, sorted
	Base       string   // the image that its devcontainer.json names, or empty
	Unknown    []string // features of its devcontainer.json that no toolchain stands for
}

// Limits of a look, so that a workspace of any size costs little.
const (
	mostEntries     = 5000    // of a directory
	mostDirectories = 100     // below the workspace
	mostFile        = 1 << 18 // bytes of devcontainer.json
)

// signs are files by whose names a project's toolchain is known.
var signs = map[string]string{
	"go.mod": "go", "go.work": "go",
	"package.json": "node",
	"Cargo.toml":   "rust",
	"pom.xml":      "java", "build.gradle": "java", "build.gradle.kts": "java",
	"pyproject.toml": "python", "requirements.txt": "python", "setup.py": "python", "Pipfile": "python",
	"CMakeLists.txt": "build", "configure.ac": "build", "meson.build": "build",
}

// endings are endings of such names.
var endings = map[string]string{
	".c": "build", ".cc": "build", ".cpp": "build", ".cxx": "build",
	".py": "python",
}

// Look returns what the projects in a workspace, and in the directories directly below it,
// need. An error is about the workspace itself or about its devcontainer.json; what is
// known without the latter is returned with it.
func Look(workspace string) (Needs, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return Needs{}, err
	}
	defer root.Close()
	found := map[string]bool{}
	below, err := note(root, ".", found)
	if err != nil {
		return Needs{}, err
	}
	for _, dir := range below[:min(len(below), mostDirectories)] {
		_, _ = note(root, dir, found) // one that cannot be read shows nothing
	}
	c, err := readDevcontainer(root)
	for _, name := range c.toolchains {
		found[name] = true
	}
	needs := Needs{Base: c.image, Unknown: c.unknown}
	for name := range found {
		needs.Toolchains = append(needs.Toolchains, name)
	}
	slices.Sort(needs.Toolchains)
	return needs, err
}

// note adds the toolchains that a directory's files show and returns the directories in
// it, without those that hold what others made.
func note(root *os.Root, dir string, found map[string]bool) (below []string, err error) {
	f, err := root.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(mostEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case e.IsDir() && name[0] != '.' && name != "node_modules" && name != "vendor":
			below = append(below, path.Join(dir, name))
		case e.Type().IsRegular() && signs[name] != "":
			found[signs[name]] = true
		case e.Type().IsRegular() && endings[path.Ext(name)] != "":
			found[endings[path.Ext(name)]] = true
		}
	}
	slices.Sort(below)
	return below, nil
}

// readSmall reads a regular file below root, at most mostFile bytes of it. It does not
// wait for a pipe or a device.
func readSmall(root *os.Root, name string) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("it is not a regular file")}
	case info.Size() > mostFile:
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("it is larger than 256 KiB")}
	}
	return io.ReadAll(io.LimitReader(f, mostFile))
}

package toolchain

import (
	"errors"
	"io"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"
)

// Needs is what a workspace needs.
type Needs struct {
	Toolchains []string // by name, sorted
	Base       string   // the image that its devcontainer.json names, or ""
	Unknown    []string // features in its devcontainer.json without a toolchain
}

// Limits of Look, so that it is fast in a workspace of any size.
const (
	mostEntries     = 5000    // of a directory
	mostDirectories = 100     // below the workspace
	mostFile        = 1 << 18 // bytes of devcontainer.json
)

// signs are the toolchains of projects, by the names of files that they have.
var signs = map[string]string{
	"go.mod": "go", "go.work": "go",
	"package.json": "node",
	"Cargo.toml":   "rust",
	"pom.xml":      "java", "build.gradle": "java", "build.gradle.kts": "java",
	"pyproject.toml": "python", "requirements.txt": "python", "setup.py": "python", "Pipfile": "python",
	"CMakeLists.txt": "build", "configure.ac": "build", "meson.build": "build",
}

// endings are the toolchains of projects, by the endings of such names.
var endings = map[string]string{
	".c": "build", ".cc": "build", ".cpp": "build", ".cxx": "build",
	".py": "python",
}

// Look returns what the projects in a workspace and in the directories directly below it need. It
// fails if it cannot read the workspace or its devcontainer.json. If it cannot read the latter, it
// also returns what it has found without it.
func Look(workspace string) (Needs, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return Needs{}, err
	}
	defer root.Close()
	found := map[string]bool{}
	below, err := scan(root, ".", found)
	if err != nil {
		return Needs{}, err
	}
	for _, dir := range below[:min(len(below), mostDirectories)] {
		_, _ = scan(root, dir, found) // directories that cannot be read are ignored
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

// scan adds the toolchains that a directory's files need to found. It returns the directories in
// it, without hidden ones and those with code of others.
func scan(root *os.Root, dir string, found map[string]bool) (below []string, err error) {
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

package toolchain

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Here says where the first tab works when the program is started in a project without naming a
// workspace.
type Here string

// The answers, and that there is none yet.
const (
	HereAsk      Here = ""         // the person has not answered yet
	HereYes      Here = "yes"      // in the project's directory
	HereWorktree Here = "worktree" // on a branch of its own, in a working tree made of the project
	HereNo       Here = "no"       // in an empty directory
)

// projectFiles are files and directories that projects have but that name no toolchain.
var projectFiles = []string{
	"Makefile", "GNUmakefile", "makefile", "justfile", "Gemfile", "composer.json", "mix.exs", "deno.json",
	"Package.swift", "pubspec.yaml", "flake.nix", "dune-project", "stack.yaml", "build.zig", ".hg", ".jj", ".devcontainer",
}

// Project returns the directory of the project that dir belongs to, and whether it is the top of a
// git working tree. If dir is in a working tree, Project returns its top; else dir itself, if dir
// has a file that projects have; else "". The search for a top goes upwards and ends before home and
// before a directory that is not the user's Own. Both paths are absolute, without links.
func Project(dir, home string) (project string, git bool) {
	for at := dir; at != home && at != filepath.Dir(at) && (at == dir || Own(at)); at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, true
		}
	}
	if dir == home {
		return "", false
	}
	for _, name := range slices.AppendSeq(slices.Clone(projectFiles), maps.Keys(signs)) {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return dir, false
		}
	}
	return "", false
}

// Own reports whether a directory belongs to the user and is not writable by everybody. In any other
// directory, others could replace the project that the person knows.
func Own(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o002 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

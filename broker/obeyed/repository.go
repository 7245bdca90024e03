package obeyed

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// isGit reports whether a name means ".git" to git on any file system.
func isGit(name string) bool {
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// gitMarks are the entries by which git recognizes a directory as a repository.
type gitMarks struct{ head, objects, refs, commondir bool }

func (m *gitMarks) note(name string) {
	switch strings.ToLower(name) {
	case "head":
		m.head = true
	case "objects":
		m.objects = true
	case "refs":
		m.refs = true
	case "commondir":
		m.commondir = true
	}
}

func (m *gitMarks) repository() bool { return m.head && (m.commondir || m.objects && m.refs) }

// repository examines the directory of a git repository and its work tree. It does not
// check whether the repository is complete.
func (l *looker) repository(dir, top string) {
	if l.repos++; l.repos > l.most.repositories {
		l.stop("there are more than %d repositories", l.most.repositories)
		return
	}
	if !strings.HasPrefix(dir, ".git/") && !strings.Contains(dir, "/.git/") {
		l.note(dir, File{Digest: "repository", why: "git uses this repository there instead of the one around it", unit: dir, git: true, inner: true})
	}
	for _, name := range []string{"config", "config.worktree"} {
		l.config(path.Join(dir, name), dir, top, 0)
	}
	l.hooks(path.Join(dir, "hooks"))
	l.text(path.Join(dir, "commondir"), "git uses the repository that this file names", func(text []byte) bool {
		where := strings.TrimSpace(string(text))
		return where != "." && (where != "../.." || path.Base(path.Dir(dir)) != "worktrees")
	})
	l.text(path.Join(dir, "objects/info/alternates"), "git reads objects from the repository that this file names", nil)
	l.text(path.Join(dir, "info/attributes"), filtersWhy, nil)
	l.text(path.Join(dir, "rebase-merge/git-rebase-todo"), "git runs its commands when the rebase is continued", runsCommand)
	for _, name := range []string{"modules", "worktrees"} {
		l.enter(&place{above: placeOf(dir), name: name, depth: strings.Count(dir, "/") + 2})
	}
}

// placeOf returns the place of a directory that is not visited itself.
func placeOf(dir string) *place {
	at := &place{}
	if dir == "." {
		return at
	}
	for part := range strings.SplitSeq(dir, "/") {
		at = &place{above: at, name: part, depth: at.depth + 1}
	}
	return at
}

// text notes a file unless it is missing or empty. If counts is not nil, text leaves out a file for
// whose content counts returns false.
func (l *looker) text(name, why string, counts func([]byte) bool) {
	text, ok := l.read(name)
	if ok && (len(bytes.TrimSpace(text)) == 0 || counts != nil && !counts(text)) {
		return
	}
	l.file(name, File{why: why, unit: name, git: true})
}

// runsCommand reports whether the list of a rebase has a command.
func runsCommand(todo []byte) bool {
	for line := range bytes.Lines(todo) {
		if word, _, _ := strings.Cut(strings.TrimLeft(string(line), " \t"), " "); word == "exec" || word == "x" {
			return true
		}
	}
	return false
}

// hooks notes the files in a directory of hooks, except git's samples, which do not run.
func (l *looker) hooks(dir string) {
	f, err := l.root.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		if info, err := l.root.Lstat(dir); err == nil && info.Mode()&os.ModeSymlink != 0 {
			l.file(dir, File{why: "git runs the hooks that this link leads to", unit: dir, git: true})
		} else if err == nil && info.IsDir() {
			l.missed("%s cannot be read", shown(dir))
		}
		return
	}
	defer f.Close()
	for l.mayContinue() {
		entries, err := f.ReadDir(256)
		for _, e := range entries {
			if name := path.Join(dir, e.Name()); !strings.HasSuffix(e.Name(), ".sample") && !e.IsDir() {
				l.file(name, File{why: hookWhy, unit: name, git: true})
			}
		}
		if l.entries += len(entries); l.entries > l.most.entries {
			l.stop("there are more than %d files", l.most.entries)
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			l.missed("%s cannot be read", shown(dir))
			return
		}
	}
}

// config examines a configuration file of a repository, and the files that it makes git run or obey.
// It ignores all other variables, because they often change.
func (l *looker) config(name, dir, top string, depth int) {
	text, ok := l.read(name)
	if ok && text == nil {
		return
	}
	all, err := gitx.Directives(text)
	if !ok || err != nil {
		l.file(name, File{why: "git may obey this configuration, which could not be examined", unit: name, git: true})
		return
	}
	if len(all) == 0 {
		l.note(name, File{Digest: "nothing", unit: name, git: true, idle: true})
		return
	}
	h, names := sha256.New(), []string{}
	for _, d := range all {
		fmt.Fprintf(h, "%s=%q\n", d.Name, d.Value)
		names = append(names, d.Name)
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > 4 {
		names = append(names[:3:3], fmt.Sprintf("%d more", len(names)-3))
	}
	l.note(name, File{
		Digest: hex.EncodeToString(h.Sum(nil)), git: true, unit: name,
		why: "git obeys its " + strings.Join(names, ", "),
	})
	l.follow(all, path.Join(l.base, path.Dir(name)), path.Join(l.base, dir), path.Join(l.base, top), depth)
}

// follow examines the files in the workspace that a configuration names. own, dir and top are the
// directories of the configuration file, of the repository and of its work tree, as paths of the
// host.
func (l *looker) follow(all []gitx.Directive, own, dir, top string, depth int) {
	for _, d := range all {
		if d.Kind == gitx.WorkTree {
			top = l.absolute(dir, d.Value)
		}
	}
	for _, d := range all {
		if !l.mayContinue() {
			return
		}
		switch d.Kind {
		case gitx.WorkTree:
		case gitx.Hooks:
			if name, ok := l.inside(l.absolute(top, d.Value)); ok {
				l.name(name, "")
				l.hooks(name)
			}
		case gitx.Attributes:
			if name, ok := l.inside(l.absolute(top, d.Value)); ok {
				l.name(name, filtersWhy)
				l.text(name, filtersWhy, nil)
			}
		case gitx.Include:
			name, ok := l.inside(l.absolute(own, d.Value))
			if ok {
				l.name(name, includedWhy)
			}
			if ok && depth < maxIncludes && l.exists(name) {
				l.file(name, File{why: includedWhy, unit: name, git: true})
				l.included(name, dir, top, depth+1)
			}
		case gitx.Program:
			l.program(d, top)
		}
	}
}

const (
	hookWhy     = "git runs it as a hook"
	filtersWhy  = "git runs the filters it names"
	includedWhy = "git obeys it, because its configuration includes it"
)

// name notes a path that a configuration names.
func (l *looker) name(name, why string) {
	if l.named != nil {
		l.named.add(l, name, why)
	}
}

// maxIncludes is the greatest depth of configurations that include each other, as in git.
const maxIncludes = 10

// included examines an included configuration, once.
func (l *looker) included(name, dir, top string, depth int) {
	if l.seen[[2]string{name, top}] {
		return
	}
	l.seen[[2]string{name, top}] = true
	if text, ok := l.read(name); ok {
		if all, err := gitx.Directives(text); err == nil {
			l.follow(all, path.Join(l.base, path.Dir(name)), dir, top, depth)
		}
	}
}

// program examines the files that a command names by absolute paths or by paths from the top
// of the work tree.
func (l *looker) program(d gitx.Directive, top string) {
	words := strings.FieldsFunc(d.Value, func(r rune) bool { return strings.ContainsRune(" \t\n\"'=;&|<>()!`$", r) })
	for _, word := range words[:min(len(words), maxWords)] {
		name, ok := l.inside(l.absolute(top, word))
		if !ok || strings.HasPrefix(name, ".git/") && !strings.HasPrefix(name, ".git/hooks/") {
			continue
		}
		why := "git runs it, as its configuration says (" + d.Name + ")"
		l.name(name, why)
		if info, err := l.root.Stat(name); err == nil && info.Mode().IsRegular() {
			l.file(name, File{why: why, unit: name, git: true})
		}
	}
}

// maxWords is how many words of a command are examined.
const maxWords = 64

// outside follows the configurations outside of the workspace: the person's, and those of
// repositories whose work tree contains the workspace.
func (l *looker) outside() {
	read := func(dir, name, top string) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return
		}
		defer root.Close()
		text, _ := (&looker{ctx: l.ctx, root: root, most: l.most}).read(name)
		if all, err := gitx.Directives(text); err == nil {
			l.follow(all, filepath.Join(dir, path.Dir(name)), filepath.Join(top, ".git"), top, 0)
		}
	}
	if l.home != "" {
		read(l.home, ".gitconfig", l.base)
		read(l.home, ".config/git/config", l.base)
	}
	for dir := filepath.Dir(l.base); ; dir = filepath.Dir(dir) {
		read(dir, ".git/config", dir)
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

func (l *looker) exists(name string) bool {
	_, err := l.root.Lstat(name)
	return err == nil
}

// absolute makes a name absolute as git does.
func (l *looker) absolute(dir, name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok && l.home != "" {
		return filepath.Join(l.home, rest)
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// inside returns a path of the host relative to the workspace.
func (l *looker) inside(name string) (string, bool) {
	rel, err := filepath.Rel(l.base, name)
	return rel, err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, "../")
}

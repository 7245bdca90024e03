package gitx

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Surroundings finds out what git on the host would run or obey in and around a directory.
// It caches what it has read from repositories. It is safe for concurrent use.
type Surroundings struct {
	cache
	home  Home
	base  string
	above []string // directories above base with a repository

	below func() []string // directories below base with a repository, searched for once
}

// NewSurroundings makes Surroundings of base that also use the user's own configuration.
// It looks once for repositories in the directories above base, because an untrusted
// program can write only in base and below. base may be empty.
func NewSurroundings(home Home, base string) *Surroundings {
	s := &Surroundings{home: home, base: base}
	v := s.View(context.Background())
	for dir := base; dir != ""; {
		dir = dir[:strings.LastIndexByte(dir, '/')]
		if found, _ := v.gitDir(dir); found != "" {
			s.above = append(s.above, dir)
		}
	}
	s.below = sync.OnceValue(s.findBelow)
	return s
}

// Bounds on the search for repositories in a workspace. A workspace usually is one
// repository, or has several beside each other.
const (
	maxBelow  = 32
	maxPlaces = 2000
)

// findBelow looks for repositories up to two directories below base.
func (s *Surroundings) findBelow() []string {
	if s.base == "" {
		return nil
	}
	var found []string
	places := []string{s.base}
	for i := 0; i < len(places); i++ {
		if strings.Count(places[i][len(s.base):], "/") >= 2 {
			continue
		}
		entries, err := list(places[i], maxLooked)
		if err != nil && !errors.Is(err, errTooMany) {
			continue
		}
		for _, e := range entries {
			if dir := places[i] + "/" + e.Name(); e.IsDir() && e.Name() != ".git" && e.Name() != "node_modules" && len(places) < maxPlaces {
				places = append(places, dir)
			}
		}
	}
	for _, dir := range places[1:] {
		if exists(dir+"/.git") || exists(dir+"/HEAD") {
			if found = append(found, dir); len(found) == maxBelow {
				break
			}
		}
	}
	return found
}

// gitDir returns the repository of a work tree, or the directory itself if it is a bare
// repository, or "" if there is no repository that git could work in. whole is true when
// the repository has no commondir.
func (v *View) gitDir(dir string) (name string, whole bool) {
	dotGit := dir + "/.git"
	got := v.look(dotGit, asDotGit)
	switch {
	case got.stamp.mode&unix.S_IFMT == unix.S_IFDIR:
		return dotGit, got.whole
	case got.text != "":
		return absolute(dir, got.text), false
	}
	if bare, _ := isGitDir(dir); bare {
		return dir, !exists(dir + "/commondir")
	}
	return "", false
}

func readDotGit(name string) reading {
	if isDir(name) {
		return reading{whole: !exists(name + "/commondir")}
	}
	target, err := gitFile(name)
	if err != nil {
		return reading{} // git fails with an error, too
	}
	return reading{text: target}
}

func readLine(name string) reading {
	data, err := readFile(name, 4096)
	return reading{text: strings.TrimRight(string(data), "\r\n"), err: err}
}

// readSettings reads the variables of a configuration file that name something for git to
// run or obey.
func readSettings(name string) reading {
	data, err := readFile(name, maxConfig)
	if err != nil {
		return reading{err: err}
	}
	c, err := parseConfig(data)
	if err != nil {
		return reading{err: err}
	}
	r := reading{
		worktree:    c.last("core", "", "worktree"),
		perWorktree: mayBeTrue(c.last("extensions", "", "worktreeconfig")),
	}
	for _, e := range c.entries {
		includes := (e.section == "include" || e.section == "includeif") && e.name == "path"
		file := e.section == "core" && (e.name == "hookspath" || e.name == "attributesfile")
		if !includes && !file {
			if !e.startsProgram() {
				continue
			}
			e.value = strings.ToLower(e.value)
		}
		for _, value := range readings(e.value) {
			e.value = value
			r.settings = append(r.settings, e)
		}
		if len(r.settings) > maxObeyed {
			return reading{err: errObeyed}
		}
	}
	return r
}

// readHooks returns the links in a directory of hooks, and the directory if it is a link.
func readHooks(name string) reading {
	var r reading
	if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		r.links = append(r.links, name)
	}
	if !isDir(name) {
		return r
	}
	below := readNames(name)
	for _, n := range below.names {
		if len(r.links) > maxHooks {
			return reading{err: errObeyed}
		}
		if n.link {
			r.links = append(r.links, filepath.Join(name, n.name))
		}
	}
	r.err = below.err
	return r
}

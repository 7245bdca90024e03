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

// Surroundings tells what git on the host would run or obey around a directory, and
// keeps what it has read of repositories. It is safe for concurrent use.
type Surroundings struct {
	cache
	home  Home
	base  string
	above []string // directories above base with a repository

	besides func() []string // directories below base with a repository, found once
}

// NewSurroundings takes the user's own configuration into account as well. Which
// directories above base have a repository is found out once, here: an untrusted
// program writes at and below base, if at all. An empty base is above nothing.
func NewSurroundings(home Home, base string) *Surroundings {
	s := &Surroundings{home: home, base: base}
	v := s.View(context.Background())
	for dir := base; dir != ""; {
		dir = dir[:strings.LastIndexByte(dir, '/')]
		if found, _ := v.gitDir(dir); found != "" {
			s.above = append(s.above, dir)
		}
	}
	s.besides = sync.OnceValue(s.findBesides)
	return s
}

// Bounds of the search for repositories that lie in a workspace. Its usual
// layouts are one repository, and several beside each other.
const (
	maxBesides = 32
	maxPlaces  = 2000
)

// findBesides looks for repositories up to two directories below base.
func (s *Surroundings) findBesides() []string {
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
			if found = append(found, dir); len(found) == maxBesides {
				break
			}
		}
	}
	return found
}

// gitDir returns the repository of a work tree, or that which the directory itself
// is, or "" when it is none that git could work in, and whether it shares nothing
// with another repository.
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
		return reading{} // git stops there, too
	}
	return reading{text: target}
}

func readLine(name string) reading {
	data, err := readFile(name, 4096)
	return reading{text: strings.TrimRight(string(data), "\r\n"), err: err}
}

// readSettings reads what a configuration file names to be run or obeyed.
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

// readHooks finds the links in a directory of hooks, itself among them.
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

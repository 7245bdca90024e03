package gitx

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Surroundings tells what git on the host would run or obey around a directory.
// It reads a file again when its identity, size or times have changed. It is safe
// for concurrent use.
type Surroundings struct {
	user  []string // the user's own configuration files
	home  string
	base  string
	above []string // directories above base with a repository

	besides func() []string // directories below base with a repository, found once

	mu    sync.Mutex
	known map[string]reading
	none  map[string]int64 // directories without a repository, and when they had last changed
}

// NewSurroundings takes the user's own configuration into account as well. Which
// directories above base have a repository is found out once, here: an untrusted
// program writes at and below base, if at all. An empty base is above nothing.
func NewSurroundings(home Home, base string) *Surroundings {
	s := &Surroundings{user: home.files(), home: home.Dir, base: base, known: map[string]reading{}, none: map[string]int64{}}
	for dir := base; dir != ""; {
		dir = dir[:strings.LastIndexByte(dir, '/')]
		if found, _ := s.gitDir(dir); found != "" {
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
		entries, err := os.ReadDir(places[i])
		if err != nil {
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

// maxKnown bounds what is kept.
const maxKnown = 4096

// reading is what was read of one file or directory.
type reading struct {
	stamp       stamp
	settings    []entry // that name something to run or to obey
	worktree    string  // core.worktree
	perWorktree bool    // extensions.worktreeConfig
	whole       bool    // a repository that shares nothing with another
	text        string
	links       []string
	err         error
}

// stamp tells one state of a file from another. No program can set the time of
// the last change.
type stamp struct {
	dev, ino         uint64
	size             int64
	mode             uint32
	written, changed unix.Timespec
}

// look reads a file or a directory unless what is known of it still holds. What
// is not there is empty.
func (s *Surroundings) look(name string, read func(name string) reading) reading {
	var st unix.Stat_t
	if err := unix.Stat(name, &st); err != nil {
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
			return reading{}
		}
		return reading{err: refuse("a file of the git repository cannot be read")}
	}
	now := stamp{uint64(st.Dev), st.Ino, st.Size, uint32(st.Mode), st.Mtim, st.Ctim}
	s.mu.Lock()
	got, ok := s.known[name]
	s.mu.Unlock()
	if ok && got.stamp == now {
		return got
	}
	got = read(name)
	got.stamp = now
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= maxKnown {
		clear(s.known)
	}
	s.known[name] = got
	return got
}

// without reports whether a directory has no repository: neither a .git nor a HEAD.
// Where there was none, that holds until the directory changes; the given time is when
// it last did.
func (s *Surroundings) without(dir string, changed int64) bool {
	s.mu.Lock()
	before, ok := s.none[dir]
	s.mu.Unlock()
	if ok && before == changed {
		return true
	}
	if exists(dir+"/.git") || exists(dir+"/HEAD") {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.none) >= maxKnown {
		clear(s.none)
	}
	s.none[dir] = changed
	return true
}

// gitDir returns the repository of a work tree, or that which the directory itself
// is, or "" when it is none that git could work in, and whether it shares nothing
// with another repository.
func (s *Surroundings) gitDir(dir string) (name string, whole bool) {
	dotGit := dir + "/.git"
	got := s.look(dotGit, readDotGit)
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
	x := linkSearch{}
	r.err = x.list(name)
	r.links = append(r.links, x.found...)
	return r
}

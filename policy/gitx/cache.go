package gitx

import (
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxKnown bounds what a cache keeps, in bytes.
const maxKnown = 16 << 20

// settled is how long a file must have been unchanged before its times can be trusted to
// show the next change. The kernel takes file times from a clock that ticks every few
// milliseconds, and some file systems store whole seconds, so two changes between two
// ticks get the same time.
const settled = 2 * time.Second

// cache keeps what was read from files and directories as long as their identity, size and
// times stay the same. The zero value is empty.
type cache struct {
	mu     sync.Mutex
	known  map[source]*reading
	weight int              // of known, in bytes
	empty  map[Dir]struct{} // directories without a repository
}

// source is a file or a directory, and how it is read.
type source struct {
	name string
	kind kind
}

type kind uint8

const (
	asDotGit kind = iota
	asLine
	asSettings
	asHooks
	asNames
)

var readers = [...]func(name string) reading{
	asDotGit: readDotGit, asLine: readLine, asSettings: readSettings, asHooks: readHooks, asNames: readNames,
}

// reading is what was read from one file or directory.
type reading struct {
	stamp       stamp
	errno       unix.Errno // why there is no such file, or 0
	settings    []entry    // variables that name something for git to run or obey
	worktree    string     // core.worktree
	perWorktree bool       // extensions.worktreeConfig
	whole       bool       // a repository without a commondir
	text        string
	links       []string
	names       []listed // links and directories in a directory
	count       int      // how many names the directory has, of all kinds
	err         error
}

// weight estimates how many bytes a reading takes.
func (r *reading) weight() int {
	n := 512
	for _, e := range r.settings {
		n += 128 + len(e.subsection) + len(e.value)
	}
	for _, l := range r.links {
		n += 16 + len(l)
	}
	for _, l := range r.names {
		n += 24 + len(l.name)
	}
	return n + len(r.text) + len(r.worktree)
}

// stamp identifies one state of a file. No program can set the time of the last change
// (ctime).
type stamp struct {
	dev, ino         uint64
	size             int64
	mode             uint32
	written, changed unix.Timespec
}

// nothing is the reading of a file that does not exist.
var nothing = reading{errno: unix.ENOENT}

// look returns what is in a file or a directory, and reads it only if it is not in the
// cache or has changed. A file that does not exist is empty.
func (c *cache) look(from source) *reading {
	began := time.Now()
	var st unix.Stat_t
	if err := unix.Stat(from.name, &st); err != nil {
		if errors.Is(err, unix.ENOENT) {
			return &nothing
		}
		got := &reading{}
		if errors.As(err, &got.errno); got.errno != unix.ENOTDIR {
			got.err = refuse("a file of the git repository cannot be read")
		}
		return got
	}
	now := stamp{uint64(st.Dev), st.Ino, st.Size, uint32(st.Mode), st.Mtim, st.Ctim}
	c.mu.Lock()
	got, ok := c.known[from]
	c.mu.Unlock()
	if ok && got.stamp == now {
		return got
	}
	read := readers[from.kind](from.name)
	got = &read
	got.stamp = now
	if isSettled(unix.TimespecToNsec(st.Ctim), began) {
		c.keep(from, got)
	}
	return got
}

// isSettled reports whether a file that last changed at that time, in nanoseconds, will
// show every later change in its times.
func isSettled(changed int64, now time.Time) bool { return changed < now.Add(-settled).UnixNano() }

func (c *cache) keep(from source, r *reading) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, ok := c.known[from]; ok {
		c.weight -= before.weight() + len(from.name)
	}
	c.weight += r.weight() + len(from.name)
	if c.known == nil || c.weight > maxKnown {
		c.known, c.weight = map[source]*reading{}, r.weight()+len(from.name)
	}
	c.known[from] = r
}

// Dir is the state of a directory.
type Dir struct {
	Dev, Ino uint64
	Changed  int64 // time of the last change in nanoseconds; 0 when it is not known
}

// maxEmpty is how many directories without a repository a cache remembers.
const maxEmpty = 16_384

// lacksRepository reports whether a directory has neither a .git nor a HEAD. It remembers
// this until the directory changes.
func (c *cache) lacksRepository(name string, dir Dir) bool {
	began := time.Now()
	c.mu.Lock()
	_, ok := c.empty[dir]
	c.mu.Unlock()
	if ok {
		return true
	}
	if exists(name+"/.git") || exists(name+"/HEAD") {
		return false
	}
	if !isSettled(dir.Changed, began) {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.empty == nil || len(c.empty) >= maxEmpty {
		c.empty = map[Dir]struct{}{}
	}
	c.empty[dir] = struct{}{}
	return true
}

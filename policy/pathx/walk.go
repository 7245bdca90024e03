package pathx

import (
	"errors"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is the number of links that the kernel follows in one path.
const maxLinks = 40

// Ident identifies a file independently of its name: by device and inode.
type Ident struct{ Dev, Ino uint64 }

// walkOptions change what a walk accepts.
type walkOptions struct {
	floor   string // ".." in the value must not go above this directory
	special bool   // devices, sockets, FIFOs and /proc are accepted
	exact   bool   // names are compared by their bytes, as the kernel does; see respelled
}

// walker is the state of one walk. cur never contains a link.
type walker struct {
	view    *View
	cur     string
	idents  []Ident // of the existing components of cur
	changed []int64 // when each of them last changed; 0 for start and those above it
	pending []string
	parts   int // removed from pending so far
	links   int
	missing bool // cur's last component does not exist
	file    bool // cur is not a directory
	last    entry
	opt     walkOptions
	via     bool
}

// walk resolves rel from the directory start, which is resolved already and
// has the given identities.
func (v *View) walk(start, rel string, idents []Ident, o walkOptions) (Resolved, error) {
	w := &walker{view: v, cur: start, pending: make([]string, 0, 12), opt: o}
	w.idents = append(make([]Ident, 0, len(idents)+8), idents...)
	w.changed = make([]int64, len(idents), len(idents)+8)
	w.push(rel)
	for len(w.pending) > 0 {
		part := w.pending[len(w.pending)-1]
		w.pending = w.pending[:len(w.pending)-1]
		if w.parts++; w.parts > maxParts {
			return Resolved{}, refuse("the path has more than %d components", maxParts)
		}
		if err := w.step(part); err != nil {
			return Resolved{}, err
		}
	}
	return w.result()
}

// push puts the components of p before the pending ones.
func (w *walker) push(p string) {
	for end := len(p); end >= 0; {
		i := strings.LastIndexByte(p[:end], '/')
		if part := p[i+1 : end]; part != "" {
			w.pending = append(w.pending, part)
		}
		end = i
	}
}

func (w *walker) step(part string) error {
	if w.file {
		return refuse("the path continues after something that is not a directory")
	}
	switch part {
	case ".":
		return nil
	case "..":
		return w.up()
	}
	next := w.cur + "/" + part
	if w.cur == "/" {
		next = "/" + part
	}
	if w.missing {
		w.cur = next
		return nil
	}
	found, err := w.view.look(next)
	if err == nil && found.errno == unix.ENOENT && !w.opt.exact && !w.opt.special {
		var spelled string
		if spelled, err = w.view.respelled(w.cur, part); err == nil && spelled != part {
			next = path.Join(w.cur, spelled)
			found, err = w.view.look(next)
		}
	}
	switch {
	case err != nil:
		return err
	case found.errno == unix.ENOENT:
		w.cur, w.missing = next, true
		return nil
	case found.errno != 0:
		return refuse("the path cannot be resolved: %s", unix.ErrnoName(found.errno))
	case found.mode&unix.S_IFMT == unix.S_IFLNK:
		return w.link(next, found)
	}
	w.cur, w.last = next, found
	w.file = found.mode&unix.S_IFMT != unix.S_IFDIR
	w.idents = append(w.idents, found.ident)
	w.changed = append(w.changed, found.changed)
	return nil
}

// up goes to the parent of the current directory.
func (w *walker) up() error {
	switch {
	case w.missing:
		return refuse("the path goes up from a directory that does not exist")
	case w.opt.floor != "" && w.cur == w.opt.floor:
		return refuse("the path climbs out of the workspace's mount point")
	case w.cur == "/":
		return nil
	}
	w.cur = path.Dir(w.cur)
	if len(w.idents) > 0 {
		w.idents, w.changed = w.idents[:len(w.idents)-1], w.changed[:len(w.changed)-1]
	}
	return nil
}

// link follows the symbolic link at name.
func (w *walker) link(name string, found entry) error {
	if w.links++; w.links > maxLinks {
		return refuse("the path has too many links or a loop of them")
	}
	found, err := w.view.follow(w.cur, name, found)
	if err != nil {
		return err
	}
	if !w.opt.special && found.proc {
		return refuse("the path passes through a link of /proc, which every process sees differently")
	}
	w.via = true
	w.opt.floor = "" // the host resolves the link, so the mount point does not matter
	if strings.HasPrefix(found.target, "/") {
		w.cur, w.idents, w.changed = "/", w.idents[:0], w.changed[:0]
	}
	w.push(found.target)
	return nil
}

func (w *walker) result() (Resolved, error) {
	got := Resolved{Path: w.cur, ViaLink: w.via, idents: w.idents, changed: w.changed}
	if len(w.cur) > maxPath {
		return got, refuse("the path is longer than %d bytes", maxPath)
	}
	if !w.opt.special {
		if privateProc(w.cur) {
			return got, refuse("the path names a process's own files in /proc")
		}
		// The target of a link may be malformed, and without its last slash a path
		// may end with a space.
		if err := Check(w.cur); err != nil {
			return got, err
		}
	}
	if w.missing {
		return got, nil
	}
	got.Exists = true
	if len(w.idents) > 0 {
		got.Ident = w.idents[len(w.idents)-1]
	}
	if !w.file {
		got.Dir = true
		return got, nil
	}
	got.Links = w.last.links
	if !w.opt.special && w.last.mode&unix.S_IFMT != unix.S_IFREG {
		return got, refuse("the path names a device, a socket or a pipe")
	}
	return got, nil
}

func identOf(st *unix.Stat_t) Ident { return Ident{Dev: uint64(st.Dev), Ino: st.Ino} }

func errno(err error) unix.Errno {
	var e unix.Errno
	errors.As(err, &e)
	return e
}

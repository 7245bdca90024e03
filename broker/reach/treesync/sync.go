package treesync

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// passes bounds how often a Sync compares anew, because something changed while it ran. What
// still changes then is left for the next Sync.
const maxPasses = 4

// errClosed is the answer of a Tree that was closed.
var errClosed = errors.New("the tree is closed")

// Sync makes both sides equal, as far as Options want it. An error leaves both sides so that
// the next Sync goes on; ctx ends it promptly, and the client's connection with it.
//
// A tree that is empty in the container although something was agreed is taken for a new
// volume: it is filled again, and nothing is deleted here. Not so once a Sync has met something
// there: then everything was deleted.
func (t *Tree) Sync(ctx context.Context, c *Client) (Report, error) {
	var r Report
	select {
	case _, open := <-t.turn:
		if !open {
			return r, errClosed
		}
		defer func() { t.turn <- struct{}{} }()
	case <-ctx.Done():
		return r, ctx.Err()
	}
	for range maxPasses {
		s := &pass{Tree: t, c: c, r: &r}
		s.disk = disk{written: t.written, look: t.look, scanner: scanner{
			root: t.root, digests: t.digests, most: t.o.limits.Files, each: t.o.limits.Each, makeReadable: true,
		}}
		err := s.run(ctx)
		s.closeDir()
		err = errors.Join(err, t.note.flush())
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		if err != nil {
			return r, fault.Wrap("copy files of "+t.o.Name, err, "")
		}
		if !s.again {
			break
		}
	}
	return r, nil
}

// syncing is one pass of a Sync.
type pass struct {
	*Tree
	disk
	c     *Client
	r     *Report
	again bool // something changed meanwhile

	host, container manifest
	files           int // here, when all is done
	bytes           int64
}

func (s *pass) run(ctx context.Context) error {
	if err := s.compare(ctx); err != nil {
		return err
	}
	s.r.Left, s.r.More, s.r.Odd = nil, 0, s.container.special()
	s.r.Dropped = max(s.container.dropped-s.r.Odd, 0)
	if len(s.container.all) == 0 && !s.container.cut && len(s.note.agreed) > 0 && !s.met {
		if err := s.note.reset(); err != nil {
			return err
		}
	}
	p := decide(&s.o, s.note.agreed, s.host, s.container)
	if err := s.check(p); err != nil {
		return err
	}
	for _, e := range p.agree {
		s.note.agree(e.path, e.node)
	}
	for _, l := range p.left {
		s.r.left(l.Path, l.Why, l.Hides)
	}
	if s.container.cut {
		s.r.left(s.after(), "the container has too many files", false)
	}
	if err := s.remove(ctx, p.fetch); err != nil {
		return err
	}
	if len(p.aside) > 0 {
		s.again = true
		return s.setAside(p.aside)
	}
	if err := s.fetch(ctx, p.fetch); err != nil {
		return err
	}
	if err := s.put(ctx, p.put); err != nil {
		return err
	}
	s.met = len(s.note.agreed) > 0
	return nil
}

// after names the last file that the container came to list.
func (s *pass) after() string {
	if n := len(s.container.all); n > 0 {
		return s.container.all[n-1].path
	}
	return "."
}

// compare lists both sides at the same time.
func (s *pass) compare(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1) // one result; never blocks
	go func() {
		var err error
		s.host, err = s.scan(ctx)
		done <- err
	}()
	container, err := s.c.scan(ctx, s.o.Name, s.o.limits.Files, s.o.limits.Each)
	if err != nil {
		cancel()
		if scanning := <-done; scanning != nil && !errors.Is(scanning, context.Canceled) {
			err = errors.Join(err, scanning)
		}
		return err
	}
	s.container = container
	return <-done
}

// check refuses what may not be put there, before anything is done.
func (s *pass) check(p plan) error {
	const next = "remove it, or keep it outside"
	if s.host.cut {
		return fault.New("remove some, or keep them outside", "%s has more than %d files", s.o.Dir, s.o.limits.Files)
	}
	var largest entry
	for _, e := range s.host.all {
		s.files++
		s.bytes += e.size
		if e.kind == large && e.size > largest.size {
			largest = e
		}
	}
	if largest.kind == large {
		return fault.New(next, "%s is larger than the %d MiB that one file may have", largest.path, s.o.limits.Each>>20)
	}
	if s.bytes > s.o.limits.Bytes && len(p.put) > 0 {
		return fault.New("remove some, or keep them outside", "the files in %s are larger than %d MiB together", s.o.Dir, s.o.limits.Bytes>>20)
	}
	return nil
}

// remove removes here what was removed there, what is deepest first.
func (s *pass) remove(ctx context.Context, changes []change) error {
	for i := len(changes) - 1; i >= 0; i-- {
		c := changes[i]
		if c.to.kind != nothing {
			continue
		}
		if is, err := s.stat(ctx, c.path); err != nil {
			return err
		} else if !is.same(*c.from) {
			s.again = true
			continue
		}
		err := s.disk.remove(c.path)
		if notEmpty(err) {
			s.again = true
			continue
		}
		if err != nil {
			return err
		}
		s.files--
		s.bytes -= c.from.size
		s.r.Fetched++
		s.note.agree(c.path, node{})
	}
	return nil
}

// besideSuffix is what ours is called beside the agent's.
const besideSuffix = ".from-tool"

// setAside gives ours other names, where the agent's shall be.
func (s *pass) setAside(paths []string) error {
	for _, path := range paths {
		dir, name, err := s.openParent(path)
		if err != nil {
			return err
		}
		beside := ""
		for n := 1; beside == "" || s.taken(path, beside); n++ {
			suffix := besideSuffix
			if n > 1 {
				suffix = fmt.Sprintf("%s-%d", besideSuffix, n)
			}
			beside = shorten(name, maxName-len(suffix)) + suffix
		}
		err = dir.Rename(name, beside)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it vanished meanwhile
		}
		if err != nil {
			return err
		}
		s.r.Conflicts = append(s.r.Conflicts, Conflict{Path: path, Beside: sibling(path, beside)})
	}
	return nil
}

// taken reports whether a name is in use beside a path, on either side.
func (s *pass) taken(path, name string) bool {
	if has(s.container.all, sibling(path, name)) {
		return true
	}
	_, err := s.disk.look(s.dir, name)
	return !errors.Is(err, fs.ErrNotExist)
}

// sibling is a name in a path's directory.
func sibling(path, name string) string {
	return strings.TrimPrefix(parent(path)+"/"+name, "/")
}

// shorten cuts a name to so many bytes, between characters.
func shorten(name string, most int) string {
	if len(name) <= most {
		return name
	}
	for most > 0 && !utf8.RuneStart(name[most]) {
		most--
	}
	return name[:most]
}

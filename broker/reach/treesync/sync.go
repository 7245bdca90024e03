package treesync

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// maxPasses bounds how often a Sync compares again because something changed while it ran. What
// still changes then is left to the next Sync.
const maxPasses = 4

// errClosed is the error of a Sync after Close.
var errClosed = errors.New("the tree is closed")

// Sync makes both sides equal, as far as Options want it. After an error the next Sync continues
// where this one ended. When ctx ends, Sync returns promptly and closes the client's connection.
//
// If the container's tree is empty although something was agreed, Sync takes it for a new volume:
// it fills it again and deletes nothing on the host. Once this Tree has seen something in the
// container, an empty tree means that the agent deleted everything.
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

// pass is one round of a Sync: compare both sides, and do what the comparison says.
type pass struct {
	*Tree
	disk
	c     *Client
	r     *Report
	again bool // something changed meanwhile: another pass is needed

	host, container manifest
	files           int   // how many the host will have when the pass is done
	bytes           int64 // their size
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

// after names the last file that the container listed before it reached the limit.
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

// check fails if the host's tree is above a limit, before anything is done.
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

// remove deletes on the host what was deleted in the container, what is deepest first.
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

// besideSuffix is appended to the name of the host's version in a conflict.
const besideSuffix = ".from-tool"

// setAside renames files of the host, so that the agent's versions can take their paths.
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
			beside = text.Prefix(name, maxName-len(suffix)) + suffix
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

// sibling returns the path of name in the directory of path.
func sibling(path, name string) string {
	return strings.TrimPrefix(parent(path)+"/"+name, "/")
}

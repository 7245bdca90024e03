package treesync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// fetch applies the container's changes to the host: directories and modes at once, files and
// links in batches.
func (s *pass) fetch(ctx context.Context, changes []change) error {
	var batch []change
	size := int64(0)
	left := "/" // the last directory that was not made; all below it is skipped
	for _, c := range changes {
		if c.to.kind == nothing || below(c.path, left) {
			continue
		}
		if !s.reserve(c) {
			left = c.path
			continue
		}
		if o := (op{expected: *c.from, wanted: *c.to}); c.to.kind != link && !o.carries() {
			done, err := s.makeDirOrChmod(ctx, c)
			if err != nil {
				return err
			}
			if !done {
				left = c.path
			}
			continue
		}
		ok, err := s.canCreate(c)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		batch = append(batch, c)
		if size += c.to.size; len(batch) == batchPaths || size >= batchBytes {
			if err := s.receive(ctx, batch); err != nil {
				return err
			}
			batch, size = nil, 0
		}
	}
	if len(batch) == 0 {
		return nil
	}
	return s.receive(ctx, batch)
}

// reserve adds a change to the host's totals. It reports a change that would exceed a limit as
// left in the container, and returns false.
func (s *pass) reserve(c change) bool {
	files, bytes := s.files, s.bytes-c.from.size+c.to.size
	if c.from.kind == nothing {
		files++
	}
	switch {
	case files > s.o.limits.Files:
		s.r.left(c.path, fmt.Sprintf("there are more than %d files", s.o.limits.Files), false)
		return false
	case bytes > s.o.limits.Bytes && c.to.size > c.from.size:
		s.r.left(c.path, fmt.Sprintf("all files together are larger than %d MiB", s.o.limits.Bytes>>20), false)
		return false
	}
	s.files, s.bytes = files, bytes
	return true
}

// canCreate reports whether the host can have a file of this name: its directory exists, and no
// other file has the name in another spelling.
func (s *pass) canCreate(c change) (bool, error) {
	dir, name, err := s.openParent(c.path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errInTheWay) {
		return false, nil
	}
	if err != nil || c.from.kind != nothing {
		return err == nil, err
	}
	if _, err := s.disk.look(dir, name); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	f, err := dir.Open(".")
	if err != nil {
		return false, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return false, err
	}
	if slices.Contains(names, name) { // it was created after the scan
		s.again = true
		return false, nil
	}
	s.r.left(c.path, "to this machine its name is the same as that of another file", false)
	return false, nil
}

// prepare reports whether a path of the host is still as it was compared, and removes what has
// another kind.
func (s *pass) prepare(ctx context.Context, c change) (bool, error) {
	if ok, err := s.canCreate(c); err != nil || !ok {
		return false, err
	}
	status, err := s.disk.prepare(ctx, op{path: c.path, expected: *c.from, wanted: *c.to})
	if status != statusDone {
		s.again = true
	}
	return err == nil && status == statusDone, err
}

// makeDirOrChmod applies a change of the container that has no content.
func (s *pass) makeDirOrChmod(ctx context.Context, c change) (done bool, err error) {
	ready, err := s.prepare(ctx, c)
	if err != nil || !ready {
		return false, err
	}
	if c.to.kind == directory {
		err = s.mkdir(c.path, c.to.perm)
	} else {
		err = s.chmod(c.path, file, c.to.perm)
	}
	if err != nil {
		return false, err
	}
	s.r.Fetched++
	s.note.agree(c.path, *c.to)
	return true, nil
}

// receive fetches one batch of files and links, and flushes the note. Without the flush, the
// process after a crash would take a fetched file for a new one of the host, and restore it if
// the agent had deleted it since.
func (s *pass) receive(ctx context.Context, batch []change) error {
	paths := make([]string, len(batch))
	for i, c := range batch {
		paths[i] = c.path
	}
	err := s.c.fetch(ctx, s.o.Name, s.o.limits.Each, paths, func(i int, n node, target string, in *content) (local, conn error) {
		c := batch[i]
		switch {
		case n.kind == file:
			return s.receiveFile(ctx, c, n, in)
		case n.kind != link || c.to.kind != link:
			s.again = true
			return nil, nil
		}
		ready, err := s.prepare(ctx, c)
		if err == nil && ready {
			if err = s.symlink(c.path, target); err == nil {
				s.r.Fetched++
				s.note.agree(c.path, n)
			}
		}
		return err, nil
	})
	return errors.Join(err, s.note.flush())
}

// receiveFile writes a file of the container, unless it changed there while it was sent, or the
// host's version changed meanwhile.
func (s *pass) receiveFile(ctx context.Context, c change, n node, in *content) (local, conn error) {
	total := s.bytes - c.to.size + n.size
	if c.to.kind != file || total > s.o.limits.Bytes {
		s.again = true
		_, _, _, conn = in.copy(nil)
		return nil, conn
	}
	d, local := s.draft(c.path)
	if local != nil {
		if errors.Is(local, fs.ErrNotExist) || errors.Is(local, errInTheWay) {
			s.again, local = true, nil
		}
		_, _, _, conn = in.copy(nil)
		return local, conn
	}
	sum, stable, local, conn := in.copy(d)
	if local == nil && conn == nil {
		n.size, n.digest = d.size, d.digest()
		ready := stable && sum == n.digest
		if !ready {
			s.again = true
		} else if ready, local = s.prepare(ctx, c); local == nil && ready {
			if local = d.commit(n.perm); local == nil {
				s.bytes = total
				s.r.Fetched++
				s.r.Bytes += n.size
				s.note.agree(c.path, n)
			}
			return local, nil
		}
	}
	d.drop()
	return local, conn
}

// put applies the host's changes to the container: deletions first, of what is deepest before
// its directory.
func (s *pass) put(ctx context.Context, changes []change) error {
	ops := make([]op, 0, len(changes))
	for i := len(changes) - 1; i >= 0; i-- {
		if c := changes[i]; c.to.kind == nothing {
			ops = append(ops, op{path: c.path, expected: *c.from})
		}
	}
	for _, c := range changes {
		if c.to.kind == nothing {
			continue
		}
		o := op{path: c.path, expected: *c.from, wanted: *c.to}
		if c.to.kind == link {
			dir, name, err := s.openParent(c.path)
			if err == nil {
				o.target, err = dir.Readlink(name)
			}
			if err != nil || linkNode(o.target) != *c.to {
				s.again = true
				continue
			}
		}
		ops = append(ops, o)
	}
	for len(ops) > 0 {
		n, size := 0, int64(0)
		for n < min(len(ops), batchPaths) && size < batchBytes {
			size += ops[n].wanted.size
			n++
		}
		if err := s.send(ctx, ops[:n]); err != nil {
			return err
		}
		ops = ops[n:]
	}
	return nil
}

// send sends one batch of operations and notes what was done.
func (s *pass) send(ctx context.Context, ops []op) error {
	status, why, err := s.c.put(ctx, s.o.Name, s.o.limits.Each, ops, func(o op, to io.Writer) (bool, digest, error) {
		return s.content(ctx, o, to)
	})
	if err != nil {
		return err
	}
	for i, o := range ops {
		switch status[i] {
		case statusDone:
			s.r.Put++
			s.note.agree(o.path, o.wanted)
			if o.carries() {
				s.r.Bytes += o.wanted.size
			}
		case statusChanged, statusAgain:
			s.again = true
		case statusKept: // the directory is not empty
		default:
			if err == nil || status[i] == statusFull {
				err = failure(status[i], o.path, why)
			}
		}
	}
	return err
}

// failure is the error for a path that the container could not write.
func failure(status byte, path, why string) error {
	if status == statusFull {
		return fault.New("free some space on the engine's disk", "the container has no room for %s: %.200q", path, why)
	}
	return fmt.Errorf("the container cannot write %s: %.200q", path, why)
}

// content sends a file of the host. stable is false if it changed since it was compared.
func (s *pass) content(ctx context.Context, o op, to io.Writer) (stable bool, sum digest, err error) {
	dir, name, err := s.openParent(o.path)
	if err != nil {
		return false, sum, nil
	}
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false, sum, nil
	}
	f, is, err := openSame(dir, name, info)
	if err != nil {
		return false, sum, nil
	}
	defer f.Close()
	var writing error
	sum, _, err = s.digests.read(ctx, f, is, o.wanted.size, func(b []byte) error {
		_, writing = to.Write(b)
		return writing
	})
	return err == nil, sum, writing
}

package treesync

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Some trees have no copy here: files are put there one by one, and stay.

// mostListed is how many files and directories such a tree has at most.
const maxListed = 20_000

// List returns the files of a tree in the container with their sizes. None of them is read.
func (c *Client) List(ctx context.Context, tree string) (map[string]int64, error) {
	all, err := c.listTree(ctx, tree)
	if err != nil {
		return nil, err
	}
	files := make(map[string]int64, len(all))
	for _, e := range all {
		if e.kind == file || e.kind == large {
			files[e.path] = e.size
		}
	}
	return files, nil
}

// look lists a tree; files that are not empty are large ones, without digests.
func (c *Client) listTree(ctx context.Context, tree string) ([]entry, error) {
	m, err := c.scan(ctx, tree, maxListed, 0)
	if err == nil && m.cut {
		err = fmt.Errorf("there are more than %d files in the container's %s", maxListed, tree)
	}
	return m.all, err
}

// PutFile writes a file of a tree in the container: size bytes of r with the digest sum. It
// makes the directories on the way, and replaces a file that stands there. Nobody sees the
// file before it is whole. An error of r ends the connection.
func (c *Client) PutFile(ctx context.Context, tree, path string, mode fs.FileMode, r io.Reader, size int64, sum [sha256.Size]byte) error {
	if err := checkPath(path); err != nil {
		return err
	}
	listed, err := c.listTree(ctx, tree)
	if err != nil {
		return err
	}
	if room := makeRoom(listed, path); len(room) > 0 {
		if err := c.putAll(ctx, tree, 0, room, nil); err != nil {
			return err
		}
	}
	content := op{path: path, wanted: node{kind: file, size: size, digest: sum, perm: uint16(mode.Perm())}}
	return c.putAll(ctx, tree, size, []op{content}, func(_ op, to io.Writer) (bool, digest, error) {
		n, err := io.Copy(pieces{to}, io.LimitReader(r, size))
		if err == nil && n != size {
			err = fmt.Errorf("%s has %d bytes, not %d", path, n, size)
		}
		return true, sum, err
	})
}

// pieces writes at most as much at once as a frame has.
type pieces struct{ w io.Writer }

func (p pieces) Write(b []byte) (int, error) {
	for done := 0; done < len(b); {
		n, err := p.w.Write(b[done:min(done+maxFrame, len(b))])
		if done += n; err != nil {
			return done, err
		}
	}
	return len(b), nil
}

// makeRoom is what is done before a file is written: the directories on the way are made,
// and what stands in its place is removed.
func makeRoom(listed []entry, path string) []op {
	standing := map[string]node{}
	for _, e := range listed {
		standing[e.path] = e.node
	}
	var ops []op
	for i := range len(path) {
		if dir := path[:i]; strings.HasPrefix(path[i:], "/") && standing[dir].kind == nothing {
			ops = append(ops, op{path: dir, wanted: node{kind: directory, perm: 0o755}})
		}
	}
	if is := standing[path]; is.kind == file || is.kind == large || is.kind == link {
		ops = append(ops, op{path: path, expected: is})
	}
	return ops
}

// order has operations done, of which none may fail.
func (c *Client) putAll(ctx context.Context, tree string, each int64, ops []op, send func(o op, to io.Writer) (bool, digest, error)) error {
	status, why, err := c.put(ctx, tree, each, ops, send)
	if err != nil {
		return err
	}
	for i, o := range ops {
		switch status[i] {
		case statusDone:
		case statusFull, statusFailed:
			return failure(status[i], o.path, why)
		case statusAgain:
			return errors.New(o.path + " was damaged on the way")
		default:
			return fmt.Errorf("something else is in the place of %s in the container", o.path)
		}
	}
	return nil
}

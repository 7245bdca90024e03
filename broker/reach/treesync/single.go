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

// Some trees have no copy on the host: the host adds single files to them, and reads none back.

// maxListed is how many files and directories such a tree may have.
const maxListed = 20_000

// List returns the files of a tree in the container with their sizes, without reading them.
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

// listTree lists a tree. Because of its limit of 0 bytes a file, all files but empty ones are
// large, and have no digest.
func (c *Client) listTree(ctx context.Context, tree string) ([]entry, error) {
	m, err := c.scan(ctx, tree, maxListed, 0)
	if err == nil && m.cut {
		err = fmt.Errorf("there are more than %d files in the container's %s", maxListed, tree)
	}
	return m.all, err
}

// PutFile writes a file of a tree in the container: size bytes of r with the digest sum. It
// makes missing directories, and replaces a file or link at the path. The file appears only when
// it is complete. An error of r closes the connection.
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

// pieces splits what is written into pieces that fit in a frame.
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

// makeRoom returns the operations that must precede writing a file: missing directories are
// made, and a file or link at its path is removed.
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

// putAll sends operations, and fails if any of them does.
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
			return errors.New(o.path + " was damaged while it was sent")
		default:
			return fmt.Errorf("the container has something else at %s", o.path)
		}
	}
	return nil
}

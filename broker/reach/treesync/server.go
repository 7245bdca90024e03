package treesync

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Server is the container's end. It reads and writes its trees with the permissions of its
// process.
type Server struct {
	roots   map[string]string
	digests map[string]*digests
	turn    chan struct{} // a lock that a context can give up waiting for: holds one token
	// written, if not nil, is called for each new file before that gets its name; tests let it fail.
	written func(root *os.Root, path string) error
}

// NewServer serves directories of the container. roots is keyed by the names of their trees.
func NewServer(roots map[string]string) *Server {
	s := &Server{roots: roots, digests: map[string]*digests{}, turn: make(chan struct{}, 1)}
	for name := range roots {
		s.digests[name] = newDigests()
	}
	s.turn <- struct{}{}
	return s
}

// Serve answers a host's requests until conn or ctx ends, and closes conn. Several connections
// may be served at once; their requests are answered one at a time.
func (s *Server) Serve(ctx context.Context, conn io.ReadWriteCloser) error {
	defer conn.Close()
	defer closeOnCancel(ctx, conn)()
	c := &serverConn{Server: s, wire: newWire(conn), sent: map[string][]entry{}}
	err := c.serve(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("files for the host: %w", err)
	}
	return nil
}

// served is one connection.
type serverConn struct {
	*Server
	*wire
	sent map[string][]entry // by tree: the list that the host has
}

func (c *serverConn) serve(ctx context.Context) error {
	tag, f, err := c.read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	if tag != msgHello || f.text() != magic || f.number() != version || f.end() != nil {
		return errors.New("the host has another version of the protocol")
	}
	if err := c.write(msgHello, binary.AppendUvarint(nil, version)); err != nil {
		return err
	}
	for {
		tag, f, err := c.read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.answer(ctx, tag, f); err != nil {
			return err
		}
		if err := c.w.Flush(); err != nil {
			return err
		}
	}
}

// answer answers one request. Its errors end the connection.
func (c *serverConn) answer(ctx context.Context, tag byte, f *fields) error {
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return ctx.Err()
	}
	name, most := f.text(), 0
	if tag == msgScan {
		most = int(f.below(1 << 30))
	}
	each := int64(f.below(maxSize))
	if err := f.end(); err != nil {
		return err
	}
	p, failed := c.open(name, most, each)
	if failed == nil {
		defer p.root.Close()
		defer p.closeDir()
	}
	switch tag {
	case msgScan:
		return c.scan(ctx, name, p, failed)
	case msgFetch:
		return c.fetch(ctx, p, failed)
	case msgPut:
		return c.put(ctx, p, failed)
	}
	return fmt.Errorf("%w: %q", errMalformed, tag)
}

// open opens a tree for one request.
func (c *serverConn) open(name string, most int, each int64) (*disk, error) {
	dir, ok := c.roots[name]
	if !ok {
		return nil, fmt.Errorf("there is no tree %.40q", name)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &disk{written: c.written, look: (*os.Root).Lstat, scanner: scanner{root: root, digests: c.digests[name], most: most, each: each}}, nil
}

func (c *serverConn) refuse(err error) error {
	return c.write(msgFailed, appendText(nil, fmt.Sprintf("%.400s", err)))
}

// scan sends what changed since the list that the host has.
func (c *serverConn) scan(ctx context.Context, name string, p *disk, failed error) error {
	var m manifest
	if failed == nil {
		m, failed = p.scan(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed != nil {
		return c.refuse(failed)
	}
	pack := &packer{w: c.wire}
	if err := diff(c.sent[name], m.all, pack.add); err != nil {
		return err
	}
	if err := pack.flush(); err != nil {
		return err
	}
	c.sent[name] = m.all
	cut := uint64(0)
	if m.cut {
		cut = 1
	}
	body := binary.AppendUvarint(nil, uint64(m.dropped))
	body = binary.AppendUvarint(body, cut)
	return c.write(msgDone, binary.AppendUvarint(body, uint64(len(m.all))))
}

// fetch reads a list of paths and sends what is at each.
func (c *serverConn) fetch(ctx context.Context, p *disk, failed error) error {
	var paths []string
	for {
		tag, f, err := c.read()
		if err != nil {
			return err
		}
		if tag == msgLast {
			break
		}
		for f.more() {
			path := f.text()
			if err := checkPath(path); err != nil {
				return err
			}
			if paths = append(paths, path); len(paths) > batchPaths {
				return fmt.Errorf("%w: too many paths at once", errMalformed)
			}
		}
		if err := f.end(); err != nil || tag != msgPaths {
			return fmt.Errorf("%w: %q among paths", errMalformed, tag)
		}
	}
	if failed != nil {
		return c.refuse(failed)
	}
	for _, path := range paths {
		if err := c.send(ctx, p, path); err != nil {
			return err
		}
	}
	return c.write(msgDone, nil)
}

// send sends the file or link at a path, or nothing if there is neither.
func (c *serverConn) send(ctx context.Context, p *disk, path string) error {
	dir, name, err := p.openParent(path)
	var info fs.FileInfo
	if err == nil {
		info, err = dir.Lstat(name)
	}
	n, target := node{}, ""
	switch {
	case err != nil:
	case info.Mode().IsRegular() && info.Size() <= p.each:
		f, is, err := openSame(dir, name, info)
		if err != nil {
			break
		}
		defer f.Close()
		return c.sendFile(ctx, p, f, is)
	case info.Mode()&fs.ModeSymlink != 0:
		if target, err = dir.Readlink(name); err == nil && validTarget(target) {
			n = linkNode(target)
		}
	}
	return c.head(n, target)
}

func (c *serverConn) head(n node, target string) error {
	body := appendNode(nil, n)
	if n.kind == link {
		body = appendText(body, target)
	}
	return c.write(msgHead, body)
}

func (c *serverConn) sendFile(ctx context.Context, p *disk, f *os.File, is fs.FileInfo) error {
	err := c.head(node{kind: file, perm: uint16(is.Mode().Perm()), size: is.Size()}, "")
	if err != nil {
		return err
	}
	var writing error
	sum, _, err := p.digests.read(ctx, f, is, is.Size(), func(b []byte) error {
		writing = c.write(msgData, b)
		return writing
	})
	if writing != nil {
		return writing
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return sendTail(c.wire, err == nil, sum)
}

// full reports whether an error means that the disk, a quota or a file's size is at its limit.
func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

package treesync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// op orders the container to replace what is at a path.
type op struct {
	path     string
	expected node   // what the host believes to be there
	wanted   node   // nothing: remove it
	target   string // of a link
}

// carries reports whether the file's content follows the operation.
func (o op) carries() bool {
	return o.wanted.kind == file && (o.expected.kind != file || !o.expected.sameContent(o.wanted))
}

func (o op) append(b []byte) []byte {
	b = appendText(b, o.path)
	b = appendNode(b, o.expected)
	b = appendNode(b, o.wanted)
	return appendText(b, o.target)
}

func (f *fields) op() (op, error) {
	o := op{path: f.text(), expected: f.node(), wanted: f.node(), target: f.text()}
	if err := f.end(); err != nil {
		return op{}, err
	}
	if o.wanted.kind != nothing && !o.wanted.kind.carried() || (o.wanted.kind == link) != validTarget(o.target) {
		return op{}, errMalformed
	}
	return o, checkPath(o.path)
}

// put carries out the host's operations on those paths that are as the host expects.
func (c *serverConn) put(ctx context.Context, p *disk, failed error) error {
	var done []byte
	var first error
	for {
		tag, f, err := c.read()
		if err != nil {
			return err
		}
		if tag == msgLast {
			break
		}
		if tag != msgOp || len(done) == batchPaths {
			return fmt.Errorf("%w: %q among operations", errMalformed, tag)
		}
		o, err := f.op()
		if err != nil {
			return err
		}
		refused := failed
		if full(first) {
			refused = first // the other files would find the disk full, too
		}
		status, why, err := c.do(ctx, p, o, refused)
		if err != nil {
			return err
		}
		if first == nil {
			first = why
		}
		done = append(done, status)
	}
	if failed != nil {
		return c.refuse(failed)
	}
	if err := c.write(msgStatus, done); err != nil {
		return err
	}
	text := ""
	if first != nil {
		text = fmt.Sprintf("%.400s", first)
	}
	return c.write(msgDone, appendText(nil, text))
}

// do carries out one operation unless refused is set. why is why it failed; err ends the
// connection.
func (c *serverConn) do(ctx context.Context, p *disk, o op, refused error) (status byte, why, err error) {
	if o.carries() {
		status, why, err = c.receive(ctx, p, o, refused)
	} else if refused == nil {
		status, why = p.apply(ctx, o)
	}
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if refused != nil {
		why = refused
	}
	if why != nil {
		if status = statusFailed; full(why) {
			status = statusFull
		}
	}
	return status, why, err
}

// receive reads a file's content and replaces the file at the operation's path.
func (c *serverConn) receive(ctx context.Context, p *disk, o op, refused error) (status byte, why, err error) {
	in := content{w: c.wire, left: o.wanted.size}
	var d *draft
	if refused == nil {
		d, why = p.draft(o.path)
	}
	var to io.Writer
	if d != nil {
		to = d
	}
	sum, stable, writing, err := in.copy(to)
	if d == nil {
		if errors.Is(why, fs.ErrNotExist) || errors.Is(why, errInTheWay) {
			status, why = statusChanged, nil
		}
		return status, why, err
	}
	switch {
	case err != nil || writing != nil:
		d.drop()
		return 0, writing, err
	case !stable || sum != d.digest() || sum != o.wanted.digest:
		d.drop()
		return statusAgain, nil, nil
	}
	status, why = p.prepare(ctx, o)
	if status != statusDone || why != nil {
		d.drop()
		return status, why, nil
	}
	return statusDone, d.commit(o.wanted.perm), nil
}

// prepare checks that a path is as expected, and removes what has another kind.
func (p *disk) prepare(ctx context.Context, o op) (status byte, why error) {
	is, err := p.stat(ctx, o.path)
	if err != nil {
		return 0, err
	}
	if !is.same(o.expected) {
		return statusChanged, nil
	}
	if err := p.removeOtherKind(o.path, is.kind, o.wanted.kind); notEmpty(err) {
		return statusChanged, nil
	} else if err != nil {
		return 0, err
	}
	return statusDone, nil
}

// apply carries out an operation that has no content.
func (p *disk) apply(ctx context.Context, o op) (status byte, why error) {
	if status, why = p.prepare(ctx, o); status != statusDone || why != nil {
		return status, why
	}
	switch o.wanted.kind {
	case nothing:
		if why = p.remove(o.path); notEmpty(why) {
			return statusKept, nil
		}
	case directory:
		why = p.mkdir(o.path, o.wanted.perm)
	case link:
		why = p.symlink(o.path, o.target)
	default:
		why = p.chmod(o.path, file, o.wanted.perm)
	}
	if errors.Is(why, fs.ErrNotExist) || errors.Is(why, errInTheWay) {
		return statusChanged, nil
	}
	return statusDone, why
}

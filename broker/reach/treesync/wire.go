package treesync

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// The host sends one request at a time and reads its answer. It sends the first request right
// after hello, without waiting.
//
//	hello                           → hello
//	scan                            → manifest* done
//	fetch paths* last               → (head (data* tail)?)*  done
//	put (op (data* tail)?)* last    → status* done
//
// The answer to a request that fails as a whole is failed, after all of it was read.
const (
	msgHello    = 'h' // magic, version
	msgScan     = 'S' // tree, entries at most, bytes of a file at most
	msgFetch    = 'F' // tree, bytes of a file at most
	msgPut      = 'P' // tree, bytes of a file at most
	msgPaths    = 'p' // path*
	msgOp       = 'o' // path, node expected, node wanted, target of a link
	msgHead     = 'n' // node without digest, target of a link
	msgData     = 'd' // bytes of a file
	msgTail     = 'e' // 1 if the file did not change meanwhile, digest
	msgLast     = 'q' // end of a request
	msgManifest = 'm' // (number of bytes shared with the path before, the rest of the path, node)*; the node nothing: deleted
	msgStatus   = 's' // status byte*
	msgDone     = 'z' // scan: dropped, cut, entries; put: text of the first failure
	msgFailed   = 'x' // text
)

const (
	magic   = "ironcurtain mirror"
	version = 1
)

// Results of an operation.
const (
	statusDone    = iota
	statusChanged // the path is not as expected
	statusAgain   // the content changed while it was sent
	statusKept    // the directory is not empty
	statusFull    // the disk is full
	statusFailed
	statuses
)

// Limits of a batch, which is sent before the other end answers.
const (
	batchPaths = 4096
	batchBytes = 32 << 20
)

// packer writes entries, without the beginning that each path shares with the one before.
type packer struct {
	w    *wire
	body []byte
	last string
}

func (p *packer) add(e entry) error {
	if len(p.body) > maxFrame-2*maxPath {
		if err := p.flush(); err != nil {
			return err
		}
	}
	n := 0
	for n < min(len(p.last), len(e.path)) && p.last[n] == e.path[n] {
		n++
	}
	p.body = binary.AppendUvarint(p.body, uint64(n))
	p.body = appendText(p.body, e.path[n:])
	p.body = appendNode(p.body, e.node)
	p.last = e.path
	return nil
}

func (p *packer) flush() error {
	if len(p.body) == 0 {
		return nil
	}
	err := p.w.write(msgManifest, p.body)
	p.body = p.body[:0]
	return err
}

// unpack reads what packer wrote, and checks each path.
func unpack(f *fields, last string, take func(entry) error) (string, error) {
	for f.more() {
		shared := f.below(uint64(len(last)) + 1)
		rest := f.text()
		e := entry{last[:shared] + rest, f.node()}
		if f.bad {
			return "", errMalformed
		}
		if err := checkPath(e.path); err != nil {
			return "", err
		}
		if err := take(e); err != nil {
			return "", err
		}
		last = e.path
	}
	return last, f.end()
}

// diff calls do for each entry of now that is new or differs from before, and with the node
// nothing for each path that only before has. Both lists are in order, and so are the calls.
func diff(before, now []entry, do func(entry) error) error {
	i := 0
	for _, e := range now {
		for ; i < len(before) && order(before[i].path, e.path) < 0; i++ {
			if err := do(entry{path: before[i].path}); err != nil {
				return err
			}
		}
		if i < len(before) && before[i].path == e.path {
			i++
			if before[i-1].node == e.node {
				continue
			}
		}
		if err := do(e); err != nil {
			return err
		}
	}
	for ; i < len(before); i++ {
		if err := do(entry{path: before[i].path}); err != nil {
			return err
		}
	}
	return nil
}

// merge applies what diff found to a list. Both are in order.
func merge(before, changed []entry) []entry {
	if len(before) == 0 { // makes no second copy of a long list
		return slices.DeleteFunc(changed, func(e entry) bool { return e.kind == nothing })
	}
	now := make([]entry, 0, len(before)+len(changed))
	for _, c := range changed {
		n, found := slices.BinarySearchFunc(before, c.path, byOrder)
		now = append(now, before[:n]...)
		if before = before[n:]; found {
			before = before[1:]
		}
		if c.kind != nothing {
			now = append(now, c)
		}
	}
	return append(now, before...)
}

// content reads the content of a file: data frames with at most as many bytes as were announced.
type content struct {
	w    *wire
	left int64
}

// copy writes the file to to. After an error of to, which it returns as writing, it reads the
// rest without writing it. stable means that the file did not change while it was sent; sum is
// the sender's digest.
func (c *content) copy(to io.Writer) (sum digest, stable bool, writing, err error) {
	for {
		tag, f, err := c.w.read()
		if err != nil {
			return sum, false, writing, err
		}
		switch tag {
		case msgData:
			if c.left -= int64(len(f.rest)); c.left < 0 || !f.more() {
				return sum, false, writing, fmt.Errorf("%w: a file is longer than was said, or has empty pieces", errMalformed)
			}
			if to != nil && writing == nil {
				_, writing = to.Write(f.rest)
			}
		case msgTail:
			stable = f.below(2) == 1
			copy(sum[:], f.bytes(uint64(len(sum))))
			return sum, stable, writing, f.end()
		default:
			return sum, false, writing, fmt.Errorf("%w: %q within a file", errMalformed, tag)
		}
	}
}

// sendTail ends a file's content.
func sendTail(w *wire, stable bool, sum digest) error {
	body := make([]byte, 1, 1+len(sum))
	if stable {
		body[0] = 1
	}
	return w.write(msgTail, append(body, sum[:]...))
}

// closeOnCancel closes a connection when ctx ends. release ends that, and waits for a close that
// has begun.
func closeOnCancel(ctx context.Context, conn io.Closer) (release func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		conn.Close()
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}

package treesync

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/pressure"
)

// The host's end keeps a list of the container's files for each tree, so that the container sends
// only what has changed.

// maxListBytes bounds the memory of a Client's lists, because the container decides how long
// they are.
const maxListBytes = 24 << 20

// weightOf is about the memory that an entry takes, in bytes.
func weightOf(e entry) int { return 64 + len(e.path) }

// setListBytes notes how much memory the lists take.
func (c *Client) setListBytes(bytes int) {
	pressure.Add(int64(bytes - c.listBytes))
	c.listBytes = bytes
}

// scan asks for the container's files. The list is valid until the next scan of the tree.
func (c *Client) scan(ctx context.Context, name string, most int, each int64) (manifest, error) {
	var m manifest
	err := c.request(ctx, func() error {
		body := binary.AppendUvarint(appendText(nil, name), uint64(most))
		if err := c.ask(msgScan, binary.AppendUvarint(body, uint64(each))); err != nil {
			return err
		}
		if err := c.flushRequest(); err != nil {
			return err
		}
		var err error
		m, err = c.manifest(name, most)
		return err
	})
	return m, err
}

// manifest reads the answer to a scan, applies it to the tree's list and checks that.
func (c *Client) manifest(name string, most int) (manifest, error) {
	var changed []entry
	before, weight, last := c.listBytes, 0, ""
	take := func(e entry) error {
		if len(changed) > 0 && order(changed[len(changed)-1].path, e.path) >= 0 {
			return errors.New("its list of files is out of order")
		}
		if weight += weightOf(e); weight > maxListBytes || len(changed) > 2*most {
			return fmt.Errorf("its list of files is longer than %d, or than %d MiB", most, maxListBytes>>20)
		}
		changed = append(changed, e)
		return nil
	}
	for {
		tag, f, err := c.read()
		switch {
		case err != nil:
			c.setListBytes(before)
			return manifest{}, err
		case tag == msgManifest && f.more():
			if last, err = unpack(f, last, take); err != nil {
				return manifest{}, err
			}
			c.setListBytes(before + weight)
			continue
		case tag != msgDone:
			return manifest{}, fmt.Errorf("%w: %q in a list of files", errMalformed, tag)
		}
		m := manifest{dropped: int(f.below(1 << 40)), cut: f.below(2) == 1}
		count := f.below(uint64(most) + 1)
		if err := f.end(); err != nil {
			return manifest{}, err
		}
		m.all, err = c.accept(name, changed)
		if err == nil && uint64(len(m.all)) != count {
			err = fmt.Errorf("%w: a list of %d files has %d", errMalformed, count, len(m.all))
		}
		return m, err
	}
}

// accept applies changes to the list of a tree.
func (c *Client) accept(name string, changed []entry) ([]entry, error) {
	if len(changed) == 0 {
		return c.lists[name], nil
	}
	all := merge(c.lists[name], changed)
	if err := checkTree(all); err != nil {
		return nil, err
	}
	weight := 0
	for other, list := range c.lists {
		if other != name {
			for _, e := range list {
				weight += weightOf(e)
			}
		}
	}
	for _, e := range all {
		weight += weightOf(e)
	}
	if weight > maxListBytes {
		return nil, fmt.Errorf("its lists of files are longer than %d MiB", maxListBytes>>20)
	}
	c.lists[name] = all
	c.setListBytes(weight)
	return all, nil
}

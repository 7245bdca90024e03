package packs

import (
	"context"
	"crypto/sha256"
	"io"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/treesync"
)

// Tree is the name under which the container that fills the volume serves it.
const Tree = "objects"

// Into is Fill for the volume that a container serves as Tree.
func Into(ctx context.Context, p Plan, c *treesync.Client, work string) (Result, error) {
	return Fill(ctx, p, container{c}, work)
}

// container is a Volume that a container serves.
type container struct{ c *treesync.Client }

func (v container) List(ctx context.Context) (map[string]int64, error) { return v.c.List(ctx, Tree) }

func (v container) Put(ctx context.Context, name string, r io.Reader, size int64, sum [sha256.Size]byte) error {
	return v.c.PutFile(ctx, Tree, name, 0o444, r, size, sum)
}

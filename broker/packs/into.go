package packs

import (
	"context"
	"crypto/sha256"
	"io"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/treesync"
)

// Tree is the name of the volume among the trees of a container that fills it.
const Tree = "objects"

// Into is Fill for the volume that a container has as Tree.
func Into(ctx context.Context, p Plan, c *treesync.Client, work string) (Result, error) {
	return Fill(ctx, p, container{c}, work)
}

// container is the volume of a container.
type container struct{ c *treesync.Client }

func (v container) List(ctx context.Context) (map[string]int64, error) { return v.c.List(ctx, Tree) }

func (v container) Put(ctx context.Context, name string, r io.Reader, size int64, sum [sha256.Size]byte) error {
	return v.c.PutFile(ctx, Tree, name, 0o444, r, size, sum)
}

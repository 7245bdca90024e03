package gomod

import (
	"bytes"
	"errors"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// head gets the database's newest head, and holds it if it is larger than the held one.
func (d *database) head() (*registry.Document, error) {
	doc, err := d.fetcher.Document(d.ctx, d.origin, "sumdb/"+d.verifier.Name()+"/latest", "")
	if err != nil {
		return nil, err
	}
	if len(doc.Data) > maxRecord {
		return nil, registry.Refuse(502, registry.ReasonLimit, "the checksum database sent too much")
	}
	tree, err := d.tree(doc.Data)
	if err != nil {
		return nil, err
	}
	for {
		old := d.eco.heads.Latest(d.verifier.Name())
		var held tlog.Tree
		if old != nil {
			if held, err = d.tree(old); err != nil {
				return nil, err
			}
		}
		if err := d.continues(held, tree); err != nil {
			return nil, err
		}
		if tree.N <= held.N {
			return doc, nil
		}
		head := Head{Size: tree.N, Time: d.eco.now(), Signed: bytes.Clone(doc.Data)}
		if err := d.eco.heads.Hold(d.verifier.Name(), head, old); !errors.Is(err, ErrConflict) {
			return doc, err
		}
	}
}

// continues checks two heads: the smaller tree must be the beginning of the larger one.
func (d *database) continues(a, b tlog.Tree) error {
	if a.N > b.N {
		a, b = b, a
	}
	if a.N == 0 || a == b {
		return nil
	}
	if a.N < b.N {
		proof, err := tlog.ProveTree(b.N, a.N, tlog.TileHashReader(b, (*tiles)(d)))
		if err != nil {
			return d.reason(err)
		}
		if tlog.CheckTree(proof, b.N, b.Hash, a.N, a.Hash) == nil {
			return nil
		}
	}
	d.SecurityError("")
	return d.reason(nil)
}

// tile gets a tile of the tree whose head is held, and verifies it.
func (d *database) tile(path string) (*registry.Document, error) {
	tile, err := tlog.ParseTilePath(strings.TrimPrefix(path, "sumdb/"+d.verifier.Name()+"/"))
	if err != nil {
		return nil, err
	}
	tree, err := d.treeWith(tile)
	if err != nil {
		return nil, err
	}
	doc, err := d.fetcher.Document(d.ctx, d.origin, path, "")
	if err != nil {
		return nil, err
	}
	data, err := tlog.ReadTileData(tile, tlog.TileHashReader(tree, (*tiles)(d)))
	if err != nil {
		return nil, d.reason(err)
	}
	if !bytes.Equal(data, doc.Data) {
		return nil, registry.Refuse(502, registry.ReasonDigest, "the checksum database sent a part that does not belong to its tree")
	}
	return doc, nil
}

// treeWith returns the held tree, or the newest one if the held one does not have the tile. A tile
// that neither has is not requested, because an agent could encode data in its number.
func (d *database) treeWith(tile tlog.Tile) (tlog.Tree, error) {
	for _, newest := range []bool{false, true} {
		signed := d.eco.heads.Latest(d.verifier.Name())
		if newest {
			doc, err := d.head()
			if err != nil {
				return tlog.Tree{}, err
			}
			signed = doc.Data
		}
		if signed == nil {
			continue
		}
		tree, err := d.tree(signed)
		if err != nil {
			return tlog.Tree{}, err
		}
		if has(tree, tile) {
			return tree, nil
		}
	}
	return tlog.Tree{}, registry.Refuse(403, registry.ReasonUnlisted, "the checksum database has no such part")
}

// has reports whether a tree has all hashes of a tile.
func has(tree tlog.Tree, tile tlog.Tile) bool {
	below := uint(tile.H * tile.L)
	if below > 62 {
		return false
	}
	hashes := tree.N >> below
	return tile.N < hashes>>tile.H || tile.N == hashes>>tile.H && int64(tile.W) <= hashes&(1<<tile.H-1)
}

// tiles reads tiles for proofs.
type tiles database

// Height is the height of the tiles.
func (*tiles) Height() int { return tileHeight }

// ReadTiles reads tiles, from memory if they were read before.
func (t *tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	d := (*database)(t)
	all := make([][]byte, 0, len(wanted))
	for _, tile := range wanted {
		path := "/" + tile.Path()
		data, err := d.ReadCache(d.verifier.Name() + path)
		if err != nil {
			if data, err = d.ReadRemote(path); err != nil {
				return nil, err
			}
		}
		all = append(all, data)
	}
	return all, nil
}

// SaveTiles keeps verified tiles.
func (t *tiles) SaveTiles(saved []tlog.Tile, data [][]byte) {
	d := (*database)(t)
	for i, tile := range saved {
		d.WriteCache(d.verifier.Name()+"/"+tile.Path(), data[i])
	}
}

package layout

import "slices"

// Tree is a tree of panes: one pane, or parts that divide an area among themselves. The zero
// value has no pane. A pane's name is that of what it shows, such as the id of a session.
type Tree struct {
	Pane  string `json:",omitempty"` // the only pane; empty: the parts have them
	Share int    `json:",omitempty"` // of the length of the tree that this is a part of, relative to the shares of the other parts
	Down  bool   `json:",omitempty"` // the parts are one below the other, else side by side
	Parts []Tree `json:",omitempty"` // two at least
}

// Of returns a tree with one pane.
func Of(pane string) Tree { return Tree{Pane: pane, Share: 1} }

// Panes returns all panes in their order: from left to right, from top to bottom.
func (t Tree) Panes() []string {
	if t.Pane != "" {
		return []string{t.Pane}
	}
	var out []string
	for _, p := range t.Parts {
		out = append(out, p.Panes()...)
	}
	return out
}

// Has reports whether the tree has a pane.
func (t Tree) Has(pane string) bool {
	return t.Pane == pane && pane != "" || slices.ContainsFunc(t.Parts, func(p Tree) bool { return p.Has(pane) })
}

// Split divides a pane of an area in two halves. The other pane gets the lower half if down is
// set, else the right half.
func (t Tree) Split(pane, other string, down bool, area Rect) Tree {
	return t.sized(area).split(pane, other, down)
}

func (t Tree) split(pane, other string, down bool) Tree {
	if t.Pane == pane {
		return Tree{Share: t.Share, Down: down, Parts: []Tree{{Pane: pane, Share: 1}, {Pane: other, Share: 1}}}
	}
	t.Parts = slices.Clone(t.Parts)
	for i, p := range t.Parts {
		switch {
		case !p.Has(pane):
		case p.Pane == pane && t.Down == down: // add a part to this tree and not a tree within it
			half := p.Share / 2
			t.Parts[i].Share = max(1, p.Share-half)
			t.Parts = slices.Insert(t.Parts, i+1, Tree{Pane: other, Share: max(1, half)})
			return t
		default:
			t.Parts[i] = p.split(pane, other, down)
		}
	}
	return t
}

// Remove removes a pane. The part before it gets its room; if it was the first part, the part
// after it does.
func (t Tree) Remove(pane string) Tree {
	if t.Pane == pane {
		return Tree{}
	}
	i := slices.IndexFunc(t.Parts, func(p Tree) bool { return p.Has(pane) })
	if i < 0 {
		return t
	}
	t.Parts = slices.Clone(t.Parts)
	if left := t.Parts[i].Remove(pane); left.Pane != "" || len(left.Parts) > 0 {
		t.Parts[i] = left
		return t
	}
	t.Parts[heir(i)].Share += t.Parts[i].Share
	t.Parts = slices.Delete(t.Parts, i, i+1)
	if len(t.Parts) == 1 {
		only := t.Parts[0]
		only.Share = t.Share
		return only
	}
	return t
}

// heir returns the index of the part that gets the room of a removed part.
func heir(i int) int {
	if i == 0 {
		return 1
	}
	return i - 1
}

// Heirs returns the other panes. The first are those that get the pane's room when it is removed.
func (t Tree) Heirs(pane string) []string {
	i := slices.IndexFunc(t.Parts, func(p Tree) bool { return p.Has(pane) })
	if i < 0 {
		return nil
	}
	out := append(t.Parts[i].Heirs(pane), t.Parts[heir(i)].Panes()...)
	for _, p := range t.Panes() {
		if p != pane && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// Swap exchanges two panes. If only one of them is in the tree, the other one replaces it.
func (t Tree) Swap(a, b string) Tree {
	switch t.Pane {
	case "":
		t.Parts = slices.Clone(t.Parts)
		for i, p := range t.Parts {
			t.Parts[i] = p.Swap(a, b)
		}
	case a:
		t.Pane = b
	case b:
		t.Pane = a
	}
	return t
}

// mostShare bounds the shares of a tree that was loaded.
const mostShare = 1 << 16

// Keep removes duplicate panes and the panes for which want returns false. The result is a valid
// tree even if t is not, because it was loaded from a file.
func (t Tree) Keep(want func(pane string) bool) Tree {
	return t.keep(want, map[string]bool{})
}

func (t Tree) keep(want func(pane string) bool, seen map[string]bool) Tree {
	out := Tree{Share: min(max(1, t.Share), mostShare), Down: t.Down}
	if t.Pane != "" {
		if seen[t.Pane] || !want(t.Pane) {
			return Tree{}
		}
		seen[t.Pane] = true
		out.Pane, out.Down = t.Pane, false
		return out
	}
	for _, p := range t.Parts {
		if p = p.keep(want, seen); p.Pane != "" || len(p.Parts) > 0 {
			out.Parts = append(out.Parts, p)
		}
	}
	switch len(out.Parts) {
	case 0:
		return Tree{}
	case 1:
		only := out.Parts[0]
		only.Share = out.Share
		return only
	}
	return out
}

// Names are the names of the layouts.
var Names = []string{"even", "even-down", "main", "tiled"}

// Named puts panes into one of the layouts of Names: all side by side, all one below the
// other, the first one beside all others, or in rows and columns.
func Named(name string, panes []string) Tree {
	switch {
	case len(panes) == 0:
		return Tree{}
	case len(panes) == 1:
		return Of(panes[0])
	case name == "even-down":
		return even(panes, true)
	case name == "main":
		first, rest := Of(panes[0]), Named("even-down", panes[1:])
		first.Share, rest.Share = 3, 2
		return Tree{Share: 1, Parts: []Tree{first, rest}}
	case name == "tiled":
		return tiled(panes)
	}
	return even(panes, false)
}

func even(panes []string, down bool) Tree {
	out := Tree{Share: 1, Down: down}
	for _, p := range panes {
		out.Parts = append(out.Parts, Of(p))
	}
	return out
}

// tiled puts panes into rows of equally many columns; the last row may have fewer.
func tiled(panes []string) Tree {
	rows, cols := 1, 1
	for rows*cols < len(panes) {
		if rows++; rows*cols < len(panes) {
			cols++
		}
	}
	out := Tree{Share: 1, Down: true}
	for row := range slices.Chunk(panes, cols) {
		out.Parts = append(out.Parts, Named("even", row))
	}
	return out
}

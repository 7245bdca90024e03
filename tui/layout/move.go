package layout

import (
	"cmp"
	"slices"
)

// Side is a side of a pane, or the direction toward it.
type Side uint8

// The sides of a pane.
const (
	Left Side = iota
	Right
	Up
	Down
)

// Sides are the names of the sides.
var Sides = []string{"left", "right", "up", "down"}

// SideNamed returns the side with a name.
func SideNamed(name string) (s Side, ok bool) {
	i := slices.Index(Sides, name)
	return Side(max(0, i)), i >= 0
}

// vertical reports whether the sides are above and below.
func (s Side) vertical() bool { return s == Up || s == Down }

// forward reports whether the side comes later in the order of panes.
func (s Side) forward() bool { return s == Right || s == Down }

// opposite returns the other side of the pair: left and right, up and down.
func (s Side) opposite() Side { return s ^ 1 }

// Neighbors returns the panes that touch a side of a pane, the one with the longest common
// border first. At the edge of the area it continues at the opposite edge. So a pane is a
// neighbor of each of its neighbors.
func (p Places) Neighbors(pane string, side Side) []string {
	at := slices.IndexFunc(p.Panes, func(x Placed) bool { return x.Pane == pane })
	if at < 0 {
		return nil
	}
	me := p.Panes[at].box()
	edge := me.end(side)
	switch {
	case edge == p.end(side):
		edge = p.end(side.opposite())
	case side == Left:
		edge-- // the line between the two panes
	case side == Right:
		edge++
	}
	var found []Placed
	for _, x := range p.Panes {
		if x.Pane != pane && x.box().end(side.opposite()) == edge && me.common(x.box(), side) > 0 {
			found = append(found, x)
		}
	}
	slices.SortStableFunc(found, func(a, b Placed) int {
		return cmp.Compare(me.common(b.box(), side), me.common(a.box(), side))
	})
	var out []string
	for _, x := range found {
		out = append(out, x.Pane)
	}
	return out
}

// end returns where a rectangle ends on a side: its first cell on the left and above, the cell
// after its last one on the right and below.
func (r Rect) end(side Side) int {
	switch side {
	case Left:
		return r.X
	case Right:
		return r.X + r.W
	case Up:
		return r.Y
	}
	return r.Y + r.H
}

// end returns where the outermost panes end on a side.
func (p Places) end(side Side) int {
	edge := p.Panes[0].box().end(side)
	for _, x := range p.Panes {
		if e := x.box().end(side); side.forward() == (e > edge) {
			edge = e
		}
	}
	return edge
}

// common returns the length in cells that two rectangles have in common on a side.
func (r Rect) common(o Rect, side Side) int {
	if side.vertical() {
		return min(r.X+r.W, o.X+o.W) - max(r.X, o.X)
	}
	return min(r.Y+r.H, o.Y+o.H) - max(r.Y, o.Y)
}

// Grip is a border that can be moved: a side of a pane.
type Grip struct {
	Pane string // empty: no border
	Side Side   // Right or Up
}

// GripAt returns the border at a cell: the line on the right of a pane, or its title.
func (p Places) GripAt(x, y int) Grip {
	for _, one := range p.Panes {
		box := one.box()
		switch {
		case one.Title.Contains(x, y):
			return Grip{one.Pane, Up}
		case x == box.X+box.W && y >= box.Y && y < box.Y+box.H:
			return Grip{one.Pane, Right}
		}
	}
	return Grip{}
}

// Drag moves a border to a column or row of an area, as far as the panes beyond it can shrink.
func (t Tree) Drag(g Grip, x, y int, area Rect) Tree {
	places := t.Place(area)
	for _, p := range places.Panes {
		if p.Pane != g.Pane {
			continue
		}
		by := x - p.box().end(Right)
		if g.Side == Up {
			by = y - p.box().end(Up)
		}
		return t.moveBorder(g, by, area)
	}
	return t
}

// Resize moves the border after a pane toward a side by n cells. For a pane without a border
// after it, Resize moves the border before it. It reports whether a border has moved.
func (t Tree) Resize(pane string, toward Side, n int, area Rect) (Tree, bool) {
	if !toward.forward() {
		n = -n
	}
	after, before := Right, Left
	if toward.vertical() {
		after, before = Down, Up
	}
	for _, side := range []Side{after, before} {
		if _, i := t.border(Grip{pane, side}); i < 0 {
			continue
		}
		moved := t.moveBorder(Grip{pane, side}, n, area)
		return moved, !same(t.sized(area), moved)
	}
	return t, false
}

// same reports whether two trees with the same panes have the same shares.
func same(a, b Tree) bool {
	return a.Share == b.Share && slices.EqualFunc(a.Parts, b.Parts, same)
}

// border finds a border in the tree. path leads from the root to the tree that has the border
// between two of its parts: an index of Parts for each level. The border is between part first
// and the next one; first is -1 for an edge of the area, which is no border.
func (t Tree) border(g Grip) (path []int, first int) {
	i := slices.IndexFunc(t.Parts, func(p Tree) bool { return p.Has(g.Pane) })
	if i < 0 {
		return nil, -1
	}
	if path, first = t.Parts[i].border(g); first >= 0 {
		return append([]int{i}, path...), first
	}
	switch {
	case t.Down != g.Side.vertical():
	case g.Side.forward() && i < len(t.Parts)-1:
		return nil, i
	case !g.Side.forward() && i > 0:
		return nil, i - 1
	}
	return nil, -1
}

// moveBorder moves a border by n cells to the right or down; a negative n moves it the other
// way. The part next to the border shrinks first, then the parts beyond it.
func (t Tree) moveBorder(g Grip, n int, area Rect) Tree {
	t = t.sized(area)
	path, first := t.border(g)
	if first < 0 {
		return t
	}
	at := &t // sized has copied all parts, so they can be changed
	for _, i := range path {
		at = &at.Parts[i]
	}
	grows, step := first, 1 // the parts from grows+step on shrink
	if n < 0 {
		grows, step, n = first+1, -1, -n
	}
	least := at.leastLengths()
	for i := grows + step; i >= 0 && i < len(at.Parts) && n > 0; i += step {
		given := min(n, max(0, at.Parts[i].Share-least[i]))
		at.Parts[i].Share -= given
		at.Parts[grows].Share += given
		n -= given
	}
	return t
}

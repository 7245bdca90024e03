package layout

// Rect is a part of the screen, in cells.
type Rect struct{ X, Y, W, H int }

// Contains reports whether the cell x, y lies in r.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H
}

// The least size of a pane, without its title.
const (
	MinCols = 10
	MinRows = 2
)

// Placed is where a pane is: a row with its title and, below that, its program's screen. A
// pane that is alone in its tree has no title.
type Placed struct {
	Pane      string
	Title, At Rect
}

// box is the title and the screen together.
func (p Placed) box() Rect {
	return Rect{p.At.X, p.At.Y - p.Title.H, p.At.W, p.At.H + p.Title.H}
}

// Places is where the panes of a tree are in an area, in the tree's order. Panes and lines
// cover all of the area, and nothing twice.
type Places struct {
	Panes []Placed
	Lines []Rect // one column each, between panes side by side; a pane below another has its title as the line
}

// gap is the number of cells between two parts.
func (t Tree) gap() int {
	if t.Down {
		return 0 // the title of the lower one
	}
	return 1
}

// Least returns the size of the smallest area in which every pane has its least size.
func (t Tree) Least() (cols, rows int) {
	if t.Pane != "" {
		return MinCols, MinRows + 1
	}
	for _, p := range t.Parts {
		w, h := p.Least()
		if t.Down {
			cols, rows = max(cols, w), rows+h
		} else {
			cols, rows = cols+w, max(rows, h)
		}
	}
	if !t.Down {
		cols += max(0, len(t.Parts)-1)
	}
	return cols, rows
}

// Fits reports whether every pane has its least size in an area.
func (t Tree) Fits(area Rect) bool {
	cols, rows := t.Least()
	return cols <= area.W && rows <= area.H
}

// Grown returns the area, enlarged if necessary so that every pane has its least size.
func (t Tree) Grown(area Rect) Rect {
	cols, rows := t.Least()
	area.W, area.H = max(area.W, cols), max(area.H, rows)
	return area
}

// Place returns where the panes are in an area, which has to fit.
func (t Tree) Place(area Rect) Places {
	if t.Pane != "" {
		return Places{Panes: []Placed{{Pane: t.Pane, At: area}}}
	}
	var out Places
	t.place(area, &out)
	return out
}

func (t Tree) place(area Rect, out *Places) {
	if t.Pane != "" {
		title, at := area, area
		title.H = 1
		at.Y, at.H = at.Y+1, at.H-1
		out.Panes = append(out.Panes, Placed{t.Pane, title, at})
		return
	}
	for i, part := range t.divide(area) {
		t.Parts[i].place(part, out)
		if !t.Down && i < len(t.Parts)-1 {
			out.Lines = append(out.Lines, Rect{part.X + part.W, part.Y, 1, part.H})
		}
	}
}

// divide divides an area among the parts of a tree.
func (t Tree) divide(area Rect) []Rect {
	out := make([]Rect, len(t.Parts))
	at := 0
	for i, size := range t.lengths(area) {
		out[i] = Rect{area.X + at, area.Y, size - t.gap(), area.H}
		if t.Down {
			out[i] = Rect{area.X, area.Y + at, area.W, size}
		}
		at += size
	}
	return out
}

// lengths divides the length of an area among the parts of a tree by their shares. Each length
// includes the gap after the part, and is at least the part's least length if the area fits.
func (t Tree) lengths(area Rect) []int {
	length := area.W + t.gap()
	if t.Down {
		length = area.H
	}
	total := 0
	for _, p := range t.Parts {
		total += max(1, p.Share)
	}
	out, least := make([]int, len(t.Parts)), t.leastLengths()
	sum, end := 0, 0
	for i, p := range t.Parts {
		sum += max(1, p.Share)
		next := (length*sum + total - 1) / total // the part's end is rounded, so that other parts stay in place when two become one
		out[i], end = next-end, next
	}
	for i := range out {
		for out[i] < least[i] {
			from := mostSpare(out, least)
			if out[from] <= least[from] {
				break
			}
			out[from]--
			out[i]++
		}
	}
	return out
}

// leastLengths returns the least lengths of the parts, each with the gap after it.
func (t Tree) leastLengths() []int {
	out := make([]int, len(t.Parts))
	for i, p := range t.Parts {
		cols, rows := p.Least()
		out[i] = cols + t.gap()
		if t.Down {
			out[i] = rows
		}
	}
	return out
}

// mostSpare returns the index of the length that is furthest above its least length.
func mostSpare(lengths, least []int) int {
	best := 0
	for i := range lengths {
		if lengths[i]-least[i] > lengths[best]-least[best] {
			best = i
		}
	}
	return best
}

// sized returns a copy of the tree in which the share of each part is its length in an area.
func (t Tree) sized(area Rect) Tree {
	if t.Pane != "" || len(t.Parts) == 0 {
		return t
	}
	area = t.Grown(area)
	lengths, rects := t.lengths(area), t.divide(area)
	parts := make([]Tree, len(t.Parts))
	for i, p := range t.Parts {
		parts[i] = p.sized(rects[i])
		parts[i].Share = lengths[i]
	}
	t.Parts = parts
	return t
}

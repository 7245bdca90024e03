package layout

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawn draws an area: titles as =, lines as |, and each pane as the last letter of its name.
// A cell that is covered twice is drawn as !, and one that nothing covers as ?.
func drawn(p Places, area Rect) string {
	rows := make([][]byte, area.H)
	for y := range rows {
		rows[y] = []byte(strings.Repeat("?", area.W))
	}
	put := func(r Rect, with byte) {
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				cell := &rows[y-area.Y][x-area.X]
				if *cell != '?' {
					with = '!'
				}
				*cell = with
			}
		}
	}
	for _, x := range p.Panes {
		put(x.Title, '=')
		put(x.At, x.Pane[len(x.Pane)-1])
	}
	for _, r := range p.Lines {
		put(r, '|')
	}
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "%s\n", row)
	}
	return b.String()
}

func pick(rt *rapid.T, from []string, what string) string {
	return rapid.SampledFrom(from).Draw(rt, what)
}

// anyArea draws an area that has room for a few panes.
func anyArea(rt *rapid.T) Rect {
	return Rect{rapid.IntRange(0, 3).Draw(rt, "x"), rapid.IntRange(0, 3).Draw(rt, "y"), rapid.IntRange(MinCols, 120).Draw(rt, "w"), rapid.IntRange(MinRows+1, 50).Draw(rt, "h")}
}

// sound fails unless the panes cover each cell of the area once and have at least their least sizes.
func sound(rt *rapid.T, tree Tree, area Rect) Places {
	places := tree.Place(area)
	picture := drawn(places, area)
	if strings.ContainsAny(picture, "?!") {
		rt.Fatalf("%+v in %v:\n%s", tree, area, picture)
	}
	var names []string
	for _, p := range places.Panes {
		names = append(names, p.Pane)
		if p.At.W < MinCols || p.At.H < MinRows || (p.Title.H == 1) != (len(places.Panes) > 1) {
			rt.Fatalf("%+v is %+v in %v:\n%s", tree, p, area, picture)
		}
	}
	if !slices.Equal(names, tree.Panes()) {
		rt.Fatalf("the tree has %v, the area %v", tree.Panes(), names)
	}
	return places
}

// Whatever is done to a tree, its panes cover the area, each with its least size; splitting and
// removing undo each other; and a pane is a neighbor of each of its neighbors.
func TestTreesStaySound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		area, tree, made := anyArea(rt), Of("p0"), 0
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			panes := tree.Panes()
			pane := pick(rt, panes, "pane")
			before := sound(rt, tree, area)
			switch rapid.IntRange(0, 6).Draw(rt, "what") {
			case 0, 1:
				made++
				other, down := fmt.Sprint("p", made), rapid.Bool().Draw(rt, "down")
				next := tree.Split(pane, other, down, area)
				if back := next.Remove(other).Place(area); !cmp.Equal(before, back) {
					rt.Fatalf("%s split (%t) and removed in %v:\n%s\n%s", pane, down, area, drawn(before, area), drawn(back, area))
				}
				if next.Fits(area) {
					tree = next
				}
			case 2:
				if len(panes) > 1 {
					heirs := tree.Heirs(pane)
					tree = tree.Remove(pane)
					if left := tree.Panes(); len(heirs) != len(left) || !slices.Contains(left, heirs[0]) {
						rt.Fatalf("the heirs of %s are %v, of %v", pane, heirs, left)
					}
					if tree.Has(pane) || len(tree.Panes()) != len(panes)-1 {
						rt.Fatalf("%s is not gone: %+v", pane, tree)
					}
				}
			case 3:
				toward, n := Side(rapid.IntRange(0, 3).Draw(rt, "toward")), rapid.IntRange(1, 30).Draw(rt, "n")
				moved, ok := tree.Resize(pane, toward, n, area)
				if after := moved.Place(area); ok == cmp.Equal(before, after) {
					rt.Fatalf("resize says %t:\n%s\n%s", ok, drawn(before, area), drawn(after, area))
				}
				tree = moved
			case 4:
				x, y := area.X+rapid.IntRange(0, area.W-1).Draw(rt, "gx"), area.Y+rapid.IntRange(0, area.H-1).Draw(rt, "gy")
				if g := before.GripAt(x, y); g.Pane != "" {
					if at := tree.Drag(g, x, y, area).Place(area); !cmp.Equal(before, at) {
						rt.Fatalf("a border that is dragged to where it is moves:\n%s\n%s", drawn(before, area), drawn(at, area))
					}
					tree = tree.Drag(g, rapid.IntRange(-5, 130).Draw(rt, "tx"), rapid.IntRange(-5, 60).Draw(rt, "ty"), area)
				}
			case 5:
				other := pick(rt, panes, "other")
				tree = tree.Swap(pane, other)
			case 6:
				if next := Named(pick(rt, Names, "layout"), panes); next.Fits(area) {
					tree = next
				}
			}
		}
		places := sound(rt, tree, area)
		for _, pane := range tree.Panes() {
			for side := range Down + 1 {
				for _, other := range places.Neighbors(pane, side) {
					if back := places.Neighbors(other, side.opposite()); !slices.Contains(back, pane) {
						rt.Fatalf("%s is %s of %s, which has %v on that side:\n%s", other, Sides[side], pane, back, drawn(places, area))
					}
				}
			}
		}
		larger := anyArea(rt)
		if tree.Fits(larger) {
			sound(rt, tree, larger)
		}
		if again := tree.Place(area); !cmp.Equal(places, again) {
			rt.Fatalf("it does not come back:\n%s\n%s", drawn(places, area), drawn(again, area))
		}
	})
}

// Keep makes a valid tree of any tree.
func TestKeepMakesAnyTreeSound(t *testing.T) {
	var anyTree func(rt *rapid.T, deep int) Tree
	anyTree = func(rt *rapid.T, deep int) Tree {
		one := Tree{Share: rapid.Int().Draw(rt, "share"), Down: rapid.Bool().Draw(rt, "down")}
		if deep == 0 || rapid.Bool().Draw(rt, "leaf") {
			one.Pane = rapid.SampledFrom([]string{"", "a", "b", "c", "d", "gone"}).Draw(rt, "pane")
		}
		if deep > 0 {
			for range rapid.IntRange(0, 4).Draw(rt, "parts") {
				one.Parts = append(one.Parts, anyTree(rt, deep-1))
			}
		}
		return one
	}
	rapid.Check(t, func(rt *rapid.T) {
		tree := anyTree(rt, 4).Keep(func(p string) bool { return p != "gone" })
		if panes := tree.Panes(); len(panes) > 0 {
			sound(rt, tree, tree.Grown(Rect{}))
			slices.Sort(panes)
			if len(slices.Compact(panes)) != len(tree.Panes()) || tree.Has("gone") {
				rt.Fatalf("%+v", tree)
			}
		}
	})
}

// The pictures of trees that were made by hand.
func TestPlaces(t *testing.T) {
	area := Rect{W: 43, H: 10}
	abc := Of("a").Split("a", "b", false, area).Split("b", "c", true, area)
	moved, _ := abc.Resize("a", Right, 5, area)
	up, _ := abc.Resize("c", Up, 1, area)
	for _, test := range []struct {
		name string
		tree Tree
		want string
	}{
		{"one pane", Of("a"), strings.Repeat(strings.Repeat("a", 43)+"\n", 10)},
		{"split right, then down", abc, `
=====================|=====================
aaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaa|=====================
aaaaaaaaaaaaaaaaaaaaa|ccccccccccccccccccccc
aaaaaaaaaaaaaaaaaaaaa|ccccccccccccccccccccc
aaaaaaaaaaaaaaaaaaaaa|ccccccccccccccccccccc
aaaaaaaaaaaaaaaaaaaaa|ccccccccccccccccccccc
`},
		{"resized to the right", moved, `
==========================|================
aaaaaaaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaaaaaaa|================
aaaaaaaaaaaaaaaaaaaaaaaaaa|cccccccccccccccc
aaaaaaaaaaaaaaaaaaaaaaaaaa|cccccccccccccccc
aaaaaaaaaaaaaaaaaaaaaaaaaa|cccccccccccccccc
aaaaaaaaaaaaaaaaaaaaaaaaaa|cccccccccccccccc
`},
		{"the last one resized up", up, `
=====================|=====================
aaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaa|=====================
aaaaaaaaaaaaaaaaaaaaa|ccccccccccccccccccccc
aaaaaaaaaaaaaaaaaaaaa|ccccccccccccccccccccc
aaaaaaaaaaaaaaaaaaaaa|ccccccccccccccccccccc
aaaaaaaaaaaaaaaaaaaaa|ccccccccccccccccccccc
aaaaaaaaaaaaaaaaaaaaa|ccccccccccccccccccccc
`},
		{"tiled, five", Named("tiled", []string{"a", "b", "c", "d", "e"}), `
=====================|=====================
aaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbbbbbbb
=====================|=====================
ccccccccccccccccccccc|ddddddddddddddddddddd
ccccccccccccccccccccc|ddddddddddddddddddddd
===========================================
eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee
eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee
`},
		{"main, three", Named("main", []string{"a", "b", "c"}), `
==========================|================
aaaaaaaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaaaaaaa|bbbbbbbbbbbbbbbb
aaaaaaaaaaaaaaaaaaaaaaaaaa|================
aaaaaaaaaaaaaaaaaaaaaaaaaa|cccccccccccccccc
aaaaaaaaaaaaaaaaaaaaaaaaaa|cccccccccccccccc
aaaaaaaaaaaaaaaaaaaaaaaaaa|cccccccccccccccc
aaaaaaaaaaaaaaaaaaaaaaaaaa|cccccccccccccccc
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), drawn(test.tree.Place(area), area)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The first heir of a pane is the one that gets its room.
func TestHeirs(t *testing.T) {
	area := Rect{W: 80, H: 24}
	tree := Of("a").Split("a", "b", false, area).Split("b", "c", true, area).Split("a", "d", false, area)
	for pane, want := range map[string][]string{"a": {"d", "b", "c"}, "d": {"a", "b", "c"}, "b": {"c", "d", "a"}, "c": {"b", "d", "a"}} {
		got := tree.Heirs(pane)
		if !slices.Equal(got, want) {
			t.Errorf("the heirs of %s are %v, want %v", pane, got, want)
		}
		before, after := map[string]Placed{}, tree.Remove(pane).Place(area)
		for _, p := range tree.Place(area).Panes {
			before[p.Pane] = p
		}
		for _, p := range after.Panes {
			if changed := before[p.Pane] != p; changed != (p.Pane == got[0]) {
				t.Errorf("without %s, %s is %+v", pane, p.Pane, p)
			}
		}
	}
}

// A pane's neighbors are those at its side, the longest common border first, and at the edge of
// the area those at the other edge.
func TestNeighbors(t *testing.T) {
	area := Rect{W: 80, H: 24}
	places := Of("a").Split("a", "b", false, area).Split("b", "c", true, area).Split("c", "d", true, area).Place(area)
	for _, test := range []struct {
		pane string
		side Side
		want []string
	}{
		{"a", Right, []string{"b", "c", "d"}},
		{"a", Left, []string{"b", "c", "d"}},
		{"a", Up, nil},
		{"b", Left, []string{"a"}},
		{"b", Down, []string{"c"}},
		{"b", Up, []string{"d"}},
		{"d", Down, []string{"b"}},
		{"d", Right, []string{"a"}},
	} {
		if got := places.Neighbors(test.pane, test.side); !slices.Equal(got, test.want) {
			t.Errorf("%s of %s are %v, want %v", Sides[test.side], test.pane, got, test.want)
		}
	}
}

// A tree from a file, whatever it contains, places every known pane once and nothing else.
func FuzzKeep(f *testing.F) {
	f.Add([]byte(`{"Share":-1,"Parts":[{"Pane":"a","Share":9223372036854775807},{"Pane":"a"},{"Parts":[{"Parts":[]},{"Pane":"b"}]},{"Pane":"c","Parts":[{"Pane":"d"}]}]}`))
	f.Add([]byte(`{"Down":true,"Parts":[{"Pane":"b","Share":9223372036854775807},{"Pane":"d","Share":9223372036854775807},{"Pane":"x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var tree Tree
		if json.Unmarshal(data, &tree) != nil {
			return
		}
		kept := tree.Keep(func(pane string) bool { return slices.Contains([]string{"a", "b", "c", "d"}, pane) })
		area := kept.Grown(Rect{3, 4, 80, 24})
		var cells int
		seen := map[string]bool{}
		places := kept.Place(area)
		for _, p := range places.Panes {
			if seen[p.Pane] || !kept.Has(p.Pane) && p.Pane != "" || len(seen) > 4 {
				t.Fatalf("%q is placed in %+v", p.Pane, kept)
			}
			seen[p.Pane] = true
			cells += p.At.W*p.At.H + p.Title.W*p.Title.H
			if p.At.W < 1 || p.At.H < 1 || p.At.X < area.X || p.At.Y < area.Y || p.At.X+p.At.W > area.X+area.W || p.At.Y+p.At.H > area.Y+area.H {
				t.Fatalf("%+v of %+v", p, area)
			}
		}
		for _, l := range places.Lines {
			cells += l.W * l.H
		}
		if len(kept.Parts) > 0 && cells != area.W*area.H {
			t.Errorf("%d cells of %+v", cells, area)
		}
	})
}

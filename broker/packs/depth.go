package packs

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// maxCommits is how many of the newest commits are read of a history that must be cut. Tests
// lower it.
var maxCommits = 500_000

// graph is the newest part of a history. A commit that is only named as a parent is in the
// volume, unless the graph is partial.
type graph struct {
	ids     []string // binary
	listed  []bool   // git listed the commit itself, not only as a parent
	parents [][]int32
	level   []int32 // length of the shortest path from a tip; -1: none
	deepest int     // the number of levels
	partial bool    // it ends at maxCommits
}

// shorten cuts the history of the needed tips to as many levels as fit.
func (j *job) shorten(ctx context.Context) error {
	g, err := j.graph(ctx)
	if err != nil {
		return err
	}
	depth, err := largest(g.deepest, func(depth int) (bool, error) {
		return j.fits(ctx, j.needed, union(j.cut, g.cut(depth)))
	})
	if err != nil {
		return err
	}
	if depth == 0 {
		what := "more than git can handle"
		if size, err := j.size(ctx, j.needed, union(j.cut, g.cut(1))); err == nil {
			what = fmt.Sprintf("%d MB packed", size>>20)
		}
		return fault.New(withoutObjects, "the files of commit %s alone are %s, and the limit for an engine that does not see this machine's files is %d MB",
			j.needed[0], what, j.plan.Limit>>20)
	}
	j.cut = union(j.cut, g.cut(depth))
	return nil
}

// graph reads the part of the needed tips' history that the volume lacks.
func (j *job) graph(ctx context.Context) (*graph, error) {
	if err := j.setShallow(j.cut); err != nil {
		return nil, err
	}
	g, at, count := &graph{}, map[string]int32{}, 0
	out := &reader{each: func(line []byte) error {
		family := make([]int32, 0, 3)
		for id := range strings.FieldsSeq(string(line)) {
			n, err := g.index(at, id)
			if err != nil {
				return err
			}
			family = append(family, n)
		}
		if len(family) > 0 {
			g.listed[family[0]], g.parents[family[0]] = true, family[1:]
			count++
		}
		return nil
	}}
	in := strings.NewReader(j.revisions(j.needed))
	if err := j.run(ctx, in, out, "rev-list", "--stdin", "--parents", "--max-count="+strconv.Itoa(maxCommits)); err != nil {
		return nil, err
	}
	g.partial = count == maxCommits
	var tips []int32
	for _, id := range j.needed {
		n, err := g.index(at, j.peeled[id])
		if err != nil {
			return nil, err
		}
		tips = append(tips, n)
	}
	g.measure(tips)
	return g, nil
}

// index returns the index of a commit, and adds it if it is new.
func (g *graph) index(at map[string]int32, id string) (int32, error) {
	binary, err := hex.DecodeString(id)
	if err != nil {
		return 0, err
	}
	n, ok := at[string(binary)]
	if !ok {
		n = int32(len(g.ids))
		at[string(binary)] = n
		g.ids, g.listed = append(g.ids, string(binary)), append(g.listed, false)
		g.parents, g.level = append(g.parents, nil), append(g.level, -1)
	}
	return n, nil
}

// measure sets the level of each commit.
func (g *graph) measure(tips []int32) {
	for level := int32(0); len(tips) > 0; level++ {
		var next []int32
		for _, n := range tips {
			if g.listed[n] && g.level[n] < 0 {
				g.level[n], g.deepest = level, int(level)+1
				next = append(next, g.parents[n]...)
			}
		}
		tips = next
	}
}

// cut returns the commits at which history must end to have so many levels.
func (g *graph) cut(depth int) []string {
	var ends []string
	for n, level := range g.level {
		if level < 0 || int(level) >= depth {
			continue
		}
		if slices.ContainsFunc(g.parents[n], func(parent int32) bool {
			if !g.listed[parent] {
				return g.partial
			}
			return int(g.level[parent]) >= depth
		}) {
			ends = append(ends, hex.EncodeToString([]byte(g.ids[n])))
		}
	}
	return ends
}

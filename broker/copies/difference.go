package copies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
)

// What says what became of a path in the copy.
type What string

// The kinds of changes.
const (
	Added   What = "added"
	Changed What = "changed"
	Deleted What = "deleted"
)

// Change is what the agent did to one path.
type Change struct {
	Path string `json:"path"` // below the directory; the agent chose it
	What What   `json:"what"`
	// Detail says in words what there is now: a size, a kind, what a link leads to.
	Detail string `json:"detail,omitempty"`
	// Stays says why it is not landed; empty when it can be.
	Stays string `json:"stays,omitempty"`
	// Conflict is set when it stays because it was changed in the directory, too.
	Conflict bool `json:"conflict,omitempty"`
	// Ignored is set when git ignores it. It is landed only on request.
	Ignored bool `json:"ignored,omitempty"`
	// Runs says which programs of this machine would run or obey it by themselves, or is empty.
	Runs string `json:"runs,omitempty"`

	base, here, there node  // the common state, and that in the copy and in the directory
	at                stamp // of there
}

// Diff is what the agent changed in a copy.
type Diff struct {
	Origin  string   `json:"origin"` // the person's directory
	Changes []Change `json:"changes"`
	// Commits is set when branches, tags or stashes of the copy have changed. They are not
	// landed.
	Commits bool `json:"commits,omitempty"`
	// Unasked says why git could not tell what it ignores; empty when it could.
	Unasked string `json:"unasked,omitempty"`

	// Unmarked says why more than what is marked may be run; empty when all is known.
	Unmarked string `json:"unmarked,omitempty"`

	copy, note string
	agreed     map[string]node // what both sides have come to by themselves
}

// Difference compares the copy of a directory with the state that both had in common, and
// what differs with the directory as it is now. Nothing is changed. The error is ErrNotMade
// when there is no copy.
func Difference(ctx context.Context, origin, copied, note string) (Diff, error) {
	d, err := difference(ctx, origin, copied, note, folds(origin))
	if err != nil && !errors.Is(err, ErrNotMade) {
		err = fmt.Errorf("compare the copy of %s: %w", quoted(origin), err)
	}
	return d, err
}

// difference is Difference. folding says that the disk of the directory takes names that differ
// only in case for one.
func difference(ctx context.Context, origin, copied, notePath string, folding bool) (Diff, error) {
	d := Diff{Origin: origin, copy: copied, note: notePath, agreed: map[string]node{}}
	common, err := readNote(notePath)
	if err != nil {
		return d, err
	}
	now, err := scan(ctx, copied, common)
	if err != nil {
		return d, err
	}
	branches := branchesOf(copied)
	d.Commits = branches != common.branches || branches == unreadable
	twice := map[string]string{}
	if folding {
		twice = merged(common, now)
	}
	for _, name := range changedNames(common, now) {
		c := Change{Path: name, base: common.of(name).node, here: now.of(name).node}
		if other := twice[name]; other != "" {
			c.Stays = "the disk takes its name for that of " + dirtree.Short(other)
		}
		d.Changes = append(d.Changes, c)
	}
	if len(d.Changes) == 0 {
		return d, nil
	}
	if err := d.compare(ctx, common); err != nil {
		return d, err
	}
	d.describe()
	if err := d.judge(); err != nil {
		return d, err
	}
	d.Unasked, err = d.askGit(ctx)
	return d, err
}

// changedNames lists, in order, the paths that the agent changed.
func changedNames(common, now note) []string {
	names := map[string]bool{}
	for name, is := range now.nodes {
		if was := common.of(name); !was.same(is.node) && (is.kind != special || was.kind != nothing) {
			names[name] = true
		}
	}
	for name := range common.nodes {
		if now.of(name).kind == nothing {
			names[name] = true
		}
	}
	return slices.SortedFunc(maps.Keys(names), byTree)
}

// byTree orders paths so that a directory comes right before what is in it.
func byTree(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// scan lists what is in the copy, without git's own. It reads files whose stamps are not those
// of the common state.
func scan(ctx context.Context, dir string, common note) (note, error) {
	now := note{nodes: map[string]pair{}}
	all, err := openDirs(dir)
	if err != nil {
		return now, err
	}
	defer all.close()
	err = dirtree.Walk(ctx, dir, func(e *dirtree.Entry) error {
		name := e.Path()
		if git(e.Name) || !carried(name) || isTemporary(e.Name) {
			return skip(e)
		}
		was := common.of(name)
		if st := &e.Stat; was.kind == file && was.copied == stampIn(st) && kindOf(st) == file && was.size == st.Size {
			n := was.node
			n.exec = st.Mode&0o111 != 0
			now.nodes[name] = pair{node: n}
			return nil
		}
		if e.IsRegular() && e.Stat.Size > usual.each {
			now.nodes[name] = pair{node: node{kind: special}}
			return nil
		}
		n, _, err := all.look(name, noted{})
		if errors.Is(err, unix.EACCES) || errors.Is(err, errMoved) || errors.Is(err, errKind) {
			n, err = node{kind: special}, nil // it cannot be landed now
		}
		if err == nil && n.kind != nothing {
			now.nodes[name] = pair{node: n}
		}
		return err
	})
	return now, err
}

func skip(e *dirtree.Entry) error {
	if e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// compare looks at the directory. What is the same on both sides is no change.
func (d *Diff) compare(ctx context.Context, common note) error {
	there, err := openOrigin(d.Origin)
	if err != nil {
		return err
	}
	defer there.close()
	left := d.Changes[:0]
	for _, c := range d.Changes {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if c.there, c.at, err = there.look(c.Path, common.of(c.Path).there()); err != nil {
			c.Stays = fmt.Sprintf("it cannot be read in %s: %v", dirtree.Short(d.Origin), cause(err))
			c.there = node{kind: special}
		}
		if c.Stays == "" && c.here.same(c.there) {
			d.agreed[c.Path] = c.here
			continue
		}
		left = append(left, c)
	}
	d.Changes = left
	return nil
}

// describe says what became of each path.
func (d *Diff) describe() {
	for i := range d.Changes {
		c := &d.Changes[i]
		switch {
		case c.here.kind == nothing:
			c.What = Deleted
		case c.base.kind == nothing:
			c.What = Added
		default:
			c.What = Changed
		}
		c.Detail = c.detail()
	}
}

// cause is an error without the path, which is said elsewhere.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}

// parents calls each with the directories above a path, the nearest first.
func parents(name string, each func(dir string) bool) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if !each(dir) {
			return
		}
	}
}

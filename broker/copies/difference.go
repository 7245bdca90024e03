package copies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// What is the kind of a change.
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
	// Detail describes what the copy has now: a size, a kind, a link's target.
	Detail string `json:"detail,omitempty"`
	// Stays says why it cannot be landed; empty when it can.
	Stays string `json:"stays,omitempty"`
	// Conflict is set when it cannot be landed because the directory has changed there, too.
	Conflict bool `json:"conflict,omitempty"`
	// Ignored is set when git ignores it. It is landed only on request.
	Ignored bool `json:"ignored,omitempty"`
	// Runs says which programs of this machine would run or obey it by themselves, or is empty.
	Runs string `json:"runs,omitempty"`

	base, copied, origin node  // the common state, and that in the copy and in the directory
	originStamp          stamp // of the file in the directory
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

	// Unmarked says why programs may run more files than Runs says; empty when all are known.
	Unmarked string `json:"unmarked,omitempty"`

	copy, note string
	agreed     map[string]node // paths that both sides changed to the same
}

// Difference compares the copy of a directory with the state that both had in common, and where
// it differs also with the directory as it is now. It changes nothing. The error is ErrNotMade if
// there is no copy.
func Difference(ctx context.Context, origin, copied, note string) (Diff, error) {
	d, err := difference(ctx, origin, copied, note, ignoresCase(origin))
	if err != nil && !errors.Is(err, ErrNotMade) {
		err = fmt.Errorf("compare the copy of %s: %w", quoted(origin), err)
	}
	return d, err
}

// difference is Difference. folding means that the directory's file system ignores case.
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
		twice = sameNames(common, now)
	}
	for _, name := range changedNames(common, now) {
		c := Change{Path: name, base: common.get(name).node, copied: now.get(name).node}
		if other := twice[name]; other != "" {
			c.Stays = "to this disk its name is the same as " + dirtree.Short(other)
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
		if was := common.get(name); !was.same(is.node) && (is.kind != special || was.kind != nothing) {
			names[name] = true
		}
	}
	for name := range common.nodes {
		if now.get(name).kind == nothing {
			names[name] = true
		}
	}
	return slices.SortedFunc(maps.Keys(names), byTree)
}

// byTree orders paths so that a directory comes right before what is in it.
func byTree(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// scan lists the copy without .git. It reads only files whose stamps differ from the common state's.
func scan(ctx context.Context, dir string, common note) (note, error) {
	now := note{nodes: map[string]pair{}}
	all, err := openDirs(dir)
	if err != nil {
		return now, err
	}
	defer all.close()
	err = dirtree.Walk(ctx, dir, func(e *dirtree.Entry) error {
		name := e.Path()
		if git(e.Name) || !canCopy(name) || isTemporary(e.Name) {
			return skip(e)
		}
		was := common.get(name)
		if st := &e.Stat; was.kind == file && was.copied == stampIn(st) && kindOf(st) == file && was.size == st.Size {
			n := was.node
			n.exec = st.Mode&0o111 != 0
			now.nodes[name] = pair{node: n}
			return nil
		}
		if e.IsRegular() && e.Stat.Size > standard.each {
			now.nodes[name] = pair{node: node{kind: special}}
			return nil
		}
		n, _, err := all.look(name, noted{})
		if errors.Is(err, unix.EACCES) || errors.Is(err, errReplaced) || errors.Is(err, errNotRegular) {
			n, err = node{kind: special}, nil // cannot be landed
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

// compare reads the changed paths in the directory, and drops those that are the same there.
func (d *Diff) compare(ctx context.Context, common note) error {
	origin, err := openOrigin(d.Origin)
	if err != nil {
		return err
	}
	defer origin.close()
	left := d.Changes[:0]
	for _, c := range d.Changes {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if c.origin, c.originStamp, err = origin.look(c.Path, common.get(c.Path).inOrigin()); err != nil {
			c.Stays = fmt.Sprintf("it cannot be read in %s: %v", dirtree.Short(d.Origin), fault.WithoutPath(err))
			c.origin = node{kind: special}
		}
		if c.Stays == "" && c.copied.same(c.origin) {
			d.agreed[c.Path] = c.copied
			continue
		}
		left = append(left, c)
	}
	d.Changes = left
	return nil
}

// describe sets What and Detail of each change.
func (d *Diff) describe() {
	for i := range d.Changes {
		c := &d.Changes[i]
		switch {
		case c.copied.kind == nothing:
			c.What = Deleted
		case c.base.kind == nothing:
			c.What = Added
		default:
			c.What = Changed
		}
		c.Detail = c.detail()
	}
}

// parents calls each with the directories above a path, the nearest first.
func parents(name string, each func(dir string) bool) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if !each(dir) {
			return
		}
	}
}

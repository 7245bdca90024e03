package copies

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// detail describes what the copy has now.
func (c *Change) detail() string {
	now, was := c.copied, c.base
	switch {
	case now.kind == nothing:
		if was.kind != file {
			return was.kind.String()
		}
		return ""
	case now.kind == link:
		return "a link to " + dirtree.Short(now.target)
	case now.kind != file:
		return now.kind.String()
	case was.kind == file && now.digest == was.digest && now.exec:
		return "executable now"
	case was.kind == file && now.digest == was.digest:
		return "not executable any more"
	case was.kind == file && now.size != was.size:
		return fmt.Sprintf("%s, was %s", text.Size(now.size), text.Size(was.size))
	case now.exec:
		return text.Size(now.size) + ", executable"
	}
	return text.Size(now.size)
}

// Shown returns the difference for people: without directories below which another change is
// listed, and with at most that many changes. more counts the rest.
func (d Diff) Shown(most int) (shown Diff, more int) {
	shown = d
	shown.Changes, shown.agreed = nil, nil
	for i, c := range d.Changes {
		holds := (c.What == Added && c.copied.kind == directory || c.What == Deleted && c.base.kind == directory) &&
			i+1 < len(d.Changes) && strings.HasPrefix(d.Changes[i+1].Path, c.Path+"/")
		if !holds {
			shown.Changes = append(shown.Changes, c)
		}
	}
	// If not all can be shown, keep what a person must not miss.
	if more = len(shown.Changes) - most; more > 0 {
		rank := func(c Change) int {
			switch {
			case c.Runs != "" && c.Stays == "":
				return 0
			case c.Ignored:
				return 2
			}
			return 1
		}
		slices.SortStableFunc(shown.Changes, func(a, b Change) int { return cmp.Compare(rank(a), rank(b)) })
		shown.Changes = shown.Changes[:most]
		slices.SortFunc(shown.Changes, func(a, b Change) int { return byTree(a.Path, b.Path) })
	}
	return shown, max(more, 0)
}

// Left describes briefly what only the copy has; "" if nothing.
func (d Diff) Left() string {
	all, _ := d.Shown(len(d.Changes))
	files, ignored := 0, 0
	for _, c := range all.Changes {
		if c.Ignored {
			ignored++
		} else {
			files++
		}
	}
	var parts []string
	if files > 0 {
		parts = append(parts, text.Counted(files, "changed file"))
	}
	if d.Commits {
		parts = append(parts, "commits")
	}
	if ignored > 0 {
		parts = append(parts, text.Counted(ignored, "file")+" that git ignores")
	}
	return strings.Join(parts, ", and ")
}

// Line is a line of a list for people. The agent chose parts of its text.
type Line struct {
	Head bool   `json:"head,omitempty"` // the line is the heading of those after it
	What string `json:"what,omitempty"` // "added", or empty
	Text string `json:"text"`
}

// commitsStay tells a person that commits are not landed.
const commitsStay = "commits, branches and stashes of the copy stay there; a session with --worktree brings its commits home"

// Lines lists the difference: first what programs of this machine would run, then what else is
// landed, then what is not.
func (d Diff) Lines(which Which) []Line {
	var out []Line
	section := func(head string, fits func(Change) bool, text func(Change) string) {
		var lines []Line
		for _, c := range d.Changes {
			if fits(c) {
				lines = append(lines, Line{What: string(c.What), Text: text(c)})
			}
		}
		if len(lines) > 0 {
			out = append(append(out, Line{Head: true, Text: head}), lines...)
		}
	}
	section("programs of this machine run or obey these by themselves; look at them before you land them",
		func(c Change) bool { return which.Lands(c) && c.Runs != "" },
		func(c Change) string { return fmt.Sprintf("%s (%s)", dirtree.Short(c.Path), c.Runs) })
	section("to be landed in "+dirtree.Short(d.Origin),
		func(c Change) bool { return which.Lands(c) && c.Runs == "" },
		func(c Change) string { return withDetail(c, c.Detail) })
	section("changed on both sides; these stay as they are",
		func(c Change) bool { return c.Conflict },
		func(c Change) string { return withDetail(c, c.Stays) })
	section("not landed",
		func(c Change) bool { return c.Stays != "" && !c.Conflict },
		func(c Change) string { return withDetail(c, c.Stays) })
	if !which.Ignored {
		out = append(out, d.ignoredLines()...)
	}
	var notes []Line
	if d.Commits {
		notes = append(notes, Line{Text: commitsStay})
	}
	if d.Unasked != "" {
		notes = append(notes, Line{Text: d.Unasked + "; --ignored lands all"})
	}
	if d.Unmarked != "" {
		notes = append(notes, Line{Text: "programs of this machine may run more of these files than are marked: " + d.Unmarked})
	}
	if len(notes) > 0 && len(out) > 0 {
		notes = append([]Line{{Head: true, Text: "besides"}}, notes...)
	}
	return append(out, notes...)
}

func withDetail(c Change, detail string) string {
	if detail == "" {
		return dirtree.Short(c.Path)
	}
	return fmt.Sprintf("%s (%s)", dirtree.Short(c.Path), detail)
}

// ignoredLines counts what git ignores, by the first name of its path.
func (d Diff) ignoredLines() []Line {
	tops := map[string]int64{}
	for _, c := range d.Changes {
		if c.Ignored && c.Stays == "" {
			top, _, below := strings.Cut(c.Path, "/")
			if below {
				top += "/"
			}
			tops[top]++
		}
	}
	if len(tops) == 0 {
		return nil
	}
	out := []Line{{Head: true, Text: "git ignores these; --ignored lands them, too"}}
	for _, top := range slices.Sorted(maps.Keys(tops)) {
		line := dirtree.Short(top)
		if strings.HasSuffix(top, "/") {
			line += " (" + text.Counted(int(tops[top]), "file") + ")"
		}
		out = append(out, Line{Text: line})
	}
	return out
}

// Lands counts the files that are landed, and those of them that programs of this machine would run.
func (d Diff) Lands(which Which) (files, run int) {
	all, _ := d.Shown(len(d.Changes))
	for _, c := range all.Changes {
		if !which.Lands(c) {
			continue
		}
		if files++; c.Runs != "" {
			run++
		}
	}
	return files, run
}

// String says in one sentence what was landed and what was not.
func (l Landed) String() string {
	files := 0
	for i, c := range l.Landed {
		if c.What != Changed && i+1 < len(l.Landed) && strings.HasPrefix(l.Landed[i+1].Path, c.Path+"/") {
			continue
		}
		files++
	}
	said := "nothing was landed"
	if files > 0 {
		said = "landed " + text.Counted(files, "changed file")
	}
	if n := len(l.Left); n > 0 {
		first := l.Left[0]
		said += fmt.Sprintf("; left %s: %s (%s)", text.Counted(n, "file"), dirtree.Short(first.Path), first.Stays)
		if n > 1 {
			said += " and others"
		}
	}
	return said
}

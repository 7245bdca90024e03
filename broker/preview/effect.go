package preview

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Kind is the kind of an effect.
type Kind string

// The kinds of effects.
const (
	Diff    Kind = "diff"    // a file's content changes
	Move    Kind = "move"    // a file or directory goes elsewhere
	Push    Kind = "push"    // commits leave for a remote
	Remote  Kind = "remote"  // git contacts a remote
	Commit  Kind = "commit"  // what is staged is committed
	Web     Kind = "web"     // an address is fetched
	Command Kind = "command" // a command runs
	Install Kind = "install" // packages reach the agent
)

// LineKind is the kind of a line of an effect.
type LineKind string

// The kinds of lines.
const (
	Note    LineKind = "note"    // our own words, with names from the call in them
	Warning LineKind = "warning" // something that speaks against it
	Hunk    LineKind = "hunk"    // where in the file the next lines stand
	Same    LineKind = "same"    // stays
	Removed LineKind = "removed" // goes
	Added   LineKind = "added"   // comes
	Item    LineKind = "item"    // one of a list: a commit, a tag
	File    LineKind = "file"    // a file that a commit touches
)

// Line is one line of an effect. Text is not safe to draw: it holds bytes of
// files, names and messages as they are.
type Line struct {
	Kind LineKind `json:"kind"`
	Text string   `json:"text"`
}

// Effect is what a call would do.
type Effect struct {
	Kind    Kind   `json:"kind"`
	Summary string `json:"summary"` // one line
	Lines   []Line `json:"lines,omitempty"`
	More    int    `json:"more,omitempty"` // lines that were too many to keep
	// Changed means that the effect differs from the one that was shown before.
	Changed bool `json:"changed,omitempty"`
	// Fails is why the call would fail as things are, so that an approval would be in vain;
	// empty: it would not, as far as can be seen.
	Fails string `json:"-"`
	// Head is the commit that a new commit would follow, and Tree what files it would have.
	// They are empty where they are not known. Merges are the other commits that it would
	// follow, because a merge was begun.
	Head   string   `json:"-"`
	Tree   string   `json:"-"`
	Merges []string `json:"-"`
	// Fingerprint stays equal while everything is the same from which the effect was
	// computed: the file, the branch, the remote.
	Fingerprint string `json:"fingerprint"`
}

// Bounds of one effect.
const (
	maxLines = 2000
	maxText  = 256 << 10
)

// draft is an effect that is being made.
type draft struct {
	Effect
	brief bool // only what makes the fingerprint is wanted
	size  int
	facts []string
}

func (p *Previewer) newDraft(k Kind) *draft { return &draft{Effect: Effect{Kind: k}, brief: p.brief} }

// add appends a line, or counts it when there are too many.
func (d *draft) add(k LineKind, text string) {
	if len(d.Lines) >= maxLines || d.size+len(text) > maxText {
		d.More++
		return
	}
	d.size += len(text)
	d.Lines = append(d.Lines, Line{k, text})
}

func (d *draft) note(format string, args ...any) { d.add(Note, fmt.Sprintf(format, args...)) }
func (d *draft) warn(format string, args ...any) { d.add(Warning, fmt.Sprintf(format, args...)) }

// fail adds a warning about something that could not be found out, and keeps the reason.
func (d *draft) fail(err error, format string, args ...any) {
	d.fact("error", err.Error())
	d.warn(format+": %v", append(args, err)...)
}

// fact adds a fact, from which the effect was computed, to the fingerprint.
func (d *draft) fact(name, value string) { d.facts = append(d.facts, name+"="+value) }

// done completes the effect.
func (d *draft) done(format string, args ...any) *Effect {
	d.Summary = fmt.Sprintf(format, args...)
	h := sha256.New()
	for _, f := range append(d.facts, string(d.Kind)) {
		fmt.Fprintf(h, "%d:%s", len(f), f)
	}
	d.Fingerprint = hex.EncodeToString(h.Sum(nil))
	e := d.Effect
	return &e
}

// Warnings returns the texts of the effect's warnings.
func (e *Effect) Warnings() []string {
	var all []string
	if e == nil {
		return nil
	}
	for _, l := range e.Lines {
		if l.Kind == Warning {
			all = append(all, l.Text)
		}
	}
	return all
}

// plural writes a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") {
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

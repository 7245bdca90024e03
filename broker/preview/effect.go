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
	Move    Kind = "move"    // a file or directory is moved
	Push    Kind = "push"    // commits are sent to a remote
	Remote  Kind = "remote"  // git contacts a remote
	Commit  Kind = "commit"  // the staged files are committed
	Web     Kind = "web"     // a URL is requested
	Command Kind = "command" // a command runs
	Install Kind = "install" // packages reach the agent
)

// LineKind is the kind of a line of an effect.
type LineKind string

// The kinds of lines.
const (
	Note    LineKind = "note"    // our own words, with names from the call
	Warning LineKind = "warning" // a reason against the call
	Hunk    LineKind = "hunk"    // the position of the next lines in the file
	Same    LineKind = "same"    // an unchanged line of the file
	Removed LineKind = "removed" // a removed line of the file
	Added   LineKind = "added"   // an added line of the file
	Item    LineKind = "item"    // an item of a list: a commit, a tag
	File    LineKind = "file"    // a file that a commit changes
)

// Line is one line of an effect. Text is not safe to draw: it contains bytes of files, names and
// messages unchanged.
type Line struct {
	Kind LineKind `json:"kind"`
	Text string   `json:"text"`
}

// Effect is what a call would do.
type Effect struct {
	Kind    Kind   `json:"kind"`
	Summary string `json:"summary"` // one line
	Lines   []Line `json:"lines,omitempty"`
	More    int    `json:"more,omitempty"` // how many further lines there are
	// Changed means that the effect differs from the one that was shown or approved before.
	Changed bool `json:"changed,omitempty"`
	// Fails is why the call would certainly fail at present, so that approving it is useless; empty: no
	// reason is known.
	Fails string `json:"-"`
	// Head is the first parent of the new commit, and Tree its tree. They are empty if they are not
	// known. Merges are the further parents, if the commit concludes a merge.
	Head   string   `json:"-"`
	Tree   string   `json:"-"`
	Merges []string `json:"-"`
	// Fingerprint changes when something changes from which the effect was computed, such as the file,
	// the branch or the remote.
	Fingerprint string `json:"fingerprint"`
}

// Limits of one effect.
const (
	maxLines = 2000
	maxText  = 256 << 10 // bytes
)

// draft is an effect that is being computed.
type draft struct {
	Effect
	brief bool // only the fingerprint is needed
	size  int  // of all lines, in bytes
	facts []string
}

func (p *Previewer) newDraft(k Kind) *draft { return &draft{Effect: Effect{Kind: k}, brief: p.brief} }

// add appends a line. Above the limits it only counts the line.
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

// fail adds a warning that something is not known, with the reason, also to the fingerprint.
func (d *draft) fail(err error, format string, args ...any) {
	d.fact("error", err.Error())
	d.warn(format+": %v", append(args, err)...)
}

// fact adds to the fingerprint a fact from which the effect is computed.
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

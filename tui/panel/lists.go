package panel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// GrantLines lists the grants that are in force, each in full.
func GrantLines(grants []broker.Grant, me broker.Client, now time.Time) []view.Line {
	lines := []view.Line{}
	for _, r := range grants {
		lines = append(lines, view.Line{
			Key: fmt.Sprintf("#%d %s, %s", r.Number, broker.ShortID(r.Session), text.Drawable(r.Scope)),
			Text: fmt.Sprintf("%s, %s left, used %s, given by %s: %s", text.Drawable(r.Agent), view.TimeLeft(r.ExpiresAt.Sub(now)), view.Counted(r.Used, "time"),
				DeciderName(r.By, r.Client, me), text.Drawable(r.Text)),
		})
	}
	if len(lines) == 0 {
		lines = append(lines, view.Line{Text: "no approval is remembered; /approve+ shows for which later calls one can be remembered"})
	} else {
		lines = append(lines, view.Line{Text: "/revoke N ends one; /revoke all ends all"})
	}
	return lines
}

// PolicyLines shows what another policy would change, each line in full.
func PolicyLines(review broker.PolicyReview) []view.Line {
	lines := []view.Line{{Text: "/policy apply puts this in force for every tab; until then nothing changes"}}
	if len(review.Others) > 0 {
		var sessions []string
		for _, id := range review.Others {
			sessions = append(sessions, broker.ShortID(id))
		}
		lines = append(lines, view.Line{Text: "except for sessions with a profile: " + strings.Join(sessions, ", ")})
	}
	for _, change := range review.Difference {
		lines = append(lines, view.Line{Text: text.Drawable(change)})
	}
	return lines
}

// ServerLines describes the tool servers of a tab: whether they run, how many tools they
// offer, and why they do not offer others.
func ServerLines(servers []broker.ServerStatus) []view.Line {
	lines := []view.Line{}
	for _, s := range servers {
		state := string(s.State)
		switch s.State {
		case broker.ServerStopped:
			state = "ready, runs when a call needs it"
		case broker.ServerBroken:
			state = "failed: " + text.Drawable(s.Problem)
		}
		lines = append(lines, view.Line{Key: text.Drawable(s.Name), Text: fmt.Sprintf("%s; %s", view.Counted(s.Tools, "tool"), state)})
		for _, tool := range slices.Sorted(maps.Keys(s.Changed)) {
			lines = append(lines, view.Line{Text: fmt.Sprintf("  each call of %s asks, because it has changed since it was annotated: %s", text.Drawable(tool), text.Drawable(s.Changed[tool]))})
		}
		if s.State == broker.ServerOff {
			continue // all its tools are hidden, for this one reason
		}
		for _, tool := range slices.Sorted(maps.Keys(s.Hidden)) {
			lines = append(lines, view.Line{Text: fmt.Sprintf("  %s is not offered: %s", text.Drawable(tool), text.Drawable(s.Hidden[tool]))})
		}
	}
	if len(lines) == 0 {
		return []view.Line{{Text: "the tool servers of this tab do not run yet"}}
	}
	return append(lines, view.Line{Text: "/servers restart NAME starts one again, /servers disable NAME turns one off, /servers add NAME COMMAND adds one of yours"})
}

// DoneLines describes one automatic approval: the person's words that it is based on, the call, and
// what the call did.
func DoneLines(a broker.AutoApproval) []view.Line {
	lines := []view.Line{
		{Text: fmt.Sprintf("#%d %s/%s at %s", a.Call.Number, text.Drawable(a.Call.Server), text.Drawable(a.Call.Tool), a.At.Local().Format(time.TimeOnly)), Head: true},
		{Key: fmt.Sprintf("receipt %d", a.Receipt), Text: "“" + text.Drawable(a.Quote) + "”"},
	}
	if a.Model != "" {
		lines = append(lines, view.Line{Key: "confirmed by", Text: text.Drawable(a.Model)})
	}
	if e := a.Call.Effect; e != nil {
		lines = append(lines, view.Line{Key: "effect", Text: text.Drawable(e.Summary)})
		for _, l := range e.Lines {
			_, mark := effectRow(l.Kind)
			lines = append(lines, view.Line{Key: "", Text: mark + text.Drawable(l.Text)})
		}
		if e.More > 0 {
			lines = append(lines, view.Line{Text: "and " + view.Counted(e.More, "more line")})
		}
	}
	fields, err := flatten(a.Call.Arguments)
	if err != nil {
		fields = []field{{"", text.Drawable(string(a.Call.Arguments))}}
	}
	for _, f := range fields {
		lines = append(lines, view.Line{Key: f.path, Text: f.value})
	}
	return append(lines, view.Line{Key: "rule", Text: text.Drawable(a.Call.Rule)}, view.Line{Key: "digest", Text: text.Drawable(a.Call.Digest)})
}

// ChangesLines lists the changes in a workspace, sanitized. Changes that programs of this machine would
// run or obey come first.
func ChangesLines(c broker.Changes) []view.Line {
	var out []view.Line
	if dangers := c.Obeyed.Lines(); len(dangers) > 0 {
		out = append(out, view.Line{Head: true, Text: "programs of this machine would run or obey these changes; look at them before you use git, an editor or a shell there"})
		for _, line := range dangers {
			out = append(out, view.Line{Text: text.Drawable(line)})
		}
		out = append(out, view.Line{}, view.Line{Head: true, Text: "all changes"})
	}
	switch {
	case c.Trouble != "":
		return append(out, view.Line{Text: "the changes cannot be shown: " + text.Drawable(c.Trouble)})
	case c.Text == "":
		return append(out, view.Line{Text: "nothing has changed"})
	}
	for line := range strings.SplitSeq(strings.TrimRight(c.Text, "\n"), "\n") {
		out = append(out, view.Line{Text: text.Drawable(line)})
	}
	if c.Cut {
		out = append(out, view.Line{Text: "… the rest is too long to be shown"})
	}
	return out
}

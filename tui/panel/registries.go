package panel

import (
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// RegistryLines describes the package registries of a tab and what they delivered. Versions that wait
// or were denied come first, because the person can act on them.
func RegistryLines(r broker.Registries) []view.Line {
	versions := 0
	for _, h := range r.Hidden {
		versions += h.Versions
	}
	lines := []view.Line{{Key: "so far", Text: fmt.Sprintf("%s delivered, %s hidden, %d waiting, %s refused or failed",
		view.Counted(r.Delivered, "file"), view.Counted(versions, "version"), r.Waiting, view.Counted(r.RefusedAll, "request"))}}
	for _, d := range r.Denied {
		lines = append(lines, view.Line{Key: "denied", Text: text.Drawable(d)})
	}
	if len(r.Denied) > 0 {
		lines = append(lines, view.Line{Text: "  /registries release NAME, written as above, lets the agent's next request for it ask you again"})
	}
	for _, one := range r.Registries {
		about := []string{text.Drawable(one.URL)}
		if len(one.Scopes) > 0 {
			about = append(about, "for "+text.Drawable(strings.Join(one.Scopes, " ")))
		}
		if one.Private {
			about = append(about, "private: no version is too young")
		}
		if one.From != "" {
			about = append(about, "named by "+text.Drawable(one.From))
		} else {
			about = append(about, "named by config.json")
		}
		if len(one.Aliases) > 0 {
			about = append(about, "also known as "+text.Drawable(strings.Join(one.Aliases, " ")))
		}
		lines = append(lines, view.Line{Key: text.Drawable(one.Ecosystem), Text: strings.Join(about, "; ")})
	}
	if len(r.Registries) == 0 {
		lines = append(lines, view.Line{Text: "no registry is known; 'ironcurtain-mux registry learn' asks this machine's tools for theirs"})
	}
	for _, h := range r.Hidden {
		lines = append(lines, view.Line{Key: "hidden", Text: fmt.Sprintf("%s of %s %s", view.Counted(h.Versions, "version"), h.Ecosystem, text.Drawable(h.Name))})
	}
	for _, x := range r.Refused {
		lines = append(lines, view.Line{Key: "refused", Text: fmt.Sprintf("%s %s: %s", text.Drawable(x.Ecosystem), text.Drawable(x.Package), text.Drawable(x.Why))})
	}
	if r.RefusedAll > len(r.Refused) {
		lines = append(lines, view.Line{Text: "  'ironcurtain-mux registry log --refused' lists the older ones"})
	}
	return lines
}

// PackagesText counts the packages that are being downloaded: "pkgs 412 · 3 hidden · 1 waits".
func PackagesText(p broker.Moving) string {
	if p.Counts == (broker.PackageCounts{}) {
		return ""
	}
	out := fmt.Sprintf("pkgs %d", p.Delivered)
	if p.Hidden > 0 {
		out += fmt.Sprintf(" · %d hidden", p.Hidden)
	}
	switch {
	case p.Waiting == 1:
		out += " · 1 waits"
	case p.Waiting > 1:
		out += fmt.Sprintf(" · %d wait", p.Waiting)
	}
	return out
}

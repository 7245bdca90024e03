package tui

import (
	"fmt"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// findTab is the tab that a person means by its number, its name, or the start of
// its name; the error says which there are.
func (m *Model) findTab(arg string) (*tab, error) {
	if n, ok := input.Number(arg); ok {
		if t := m.numbered(n); t != nil {
			return t, nil
		}
		return nil, m.noSuchTab(n)
	}
	for _, same := range []func(name string) bool{
		func(name string) bool { return name == arg },
		func(name string) bool { return strings.HasPrefix(strings.ToLower(name), strings.ToLower(arg)) },
	} {
		var found []*tab
		for _, t := range m.tabs {
			if same(t.title()) {
				found = append(found, t)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return nil, &hinted{fmt.Errorf("%q may be %s", view.Sanitize(arg), tabList(found)), "say its number"}
		}
	}
	if len(m.tabs) == 0 {
		return nil, fmt.Errorf("no tab is called %q: none is open", view.Sanitize(arg))
	}
	return nil, fmt.Errorf("no tab is called %q; open: %s", view.Sanitize(arg), tabList(m.tabs))
}

// tabList names tabs by number and title.
func tabList(tabs []*tab) string {
	var out []string
	for _, t := range tabs {
		out = append(out, fmt.Sprintf("%d %s", t.session.Tab, view.Sanitize(t.title())))
	}
	return strings.Join(out, ", ")
}

// tabWords are the numbers of the tabs and those names that are one word.
func (m *Model) tabWords() []string {
	var out []string
	for _, t := range m.tabs {
		out = append(out, fmt.Sprint(t.session.Tab))
	}
	for _, t := range m.tabs {
		if name := t.title(); name == view.Sanitize(name) && !strings.ContainsAny(name, " \t\n") {
			out = append(out, name)
		}
	}
	return out
}

// numbered is the tab with a number, or nil.
func (m *Model) numbered(n int) *tab {
	for _, t := range m.tabs {
		if t.session.Tab == n {
			return t
		}
	}
	return nil
}

// noSuchTab says which tabs there are instead.
func (m *Model) noSuchTab(n int) error {
	if len(m.tabs) == 0 {
		return fmt.Errorf("no tab %d: none is open", n)
	}
	var open []string
	for _, t := range m.tabs {
		open = append(open, fmt.Sprint(t.session.Tab))
	}
	return fmt.Errorf("no tab %d; open: %s", n, strings.Join(open, ", "))
}

package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// complete completes the word before the cursor: a command, or an argument of
// one. Directories are read outside the event loop.
func (m *Model) complete() tea.Cmd {
	text := input.TextOf(m.line.Pieces[:m.line.Cursor])
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return nil
	}
	command, word, hasArgs := strings.Cut(text[1:], " ")
	command = strings.ToLower(command)
	if !hasArgs {
		m.completed(completedMsg{text, command, input.Completions(command, commandNames())})
		return nil
	}
	if command == "new" && strings.Contains(word, "-- ") {
		return nil // a prompt is not completed
	}
	if i := strings.LastIndexByte(word, ' '); i >= 0 {
		word = word[i+1:]
	}
	if command == "resume" {
		return m.do(func(ctx context.Context) tea.Msg {
			stored, _ := m.api.Stored(ctx) // what cannot be listed cannot be completed
			var ids []string
			for _, s := range stored {
				if id := shortID(s.ID); !s.Ephemeral && strings.HasPrefix(id, word) {
					ids = append(ids, id) // as the list has it
				} else if !s.Ephemeral {
					ids = append(ids, string(s.ID))
				}
			}
			return completedMsg{text, word, input.Completions(word, ids)}
		})
	}
	candidates := m.argumentsOf(command)
	if command != "new" || !strings.ContainsAny(word, "/~") {
		m.completed(completedMsg{text, word, input.Completions(word, candidates)})
		return nil
	}
	return m.do(func(context.Context) tea.Msg {
		return completedMsg{text, word, input.Completions(word, input.Directories(word))}
	})
}

// completed puts what was found on the line, unless that was changed
// meanwhile. Several candidates are listed in the status line.
func (m *Model) completed(msg completedMsg) {
	if input.TextOf(m.line.Pieces[:m.line.Cursor]) != msg.before {
		return
	}
	m.dirty = true
	switch prefix := input.CommonPrefix(msg.found); {
	case len(msg.found) == 0 && msg.stem == "":
		m.showError(errors.New("nothing is known that could stand here"))
	case len(msg.found) == 0:
		m.showError(fmt.Errorf("nothing begins with %q", view.Sanitize(msg.stem)))
	case len(msg.found) == 1:
		end := " "
		if strings.HasSuffix(prefix, "/") {
			end = ""
		}
		m.line.Insert(prefix[len(msg.stem):]+end, false)
	case len(prefix) > len(msg.stem):
		m.line.Insert(prefix[len(msg.stem):], false)
	default:
		m.showInfo(view.Sanitize(strings.Join(msg.found, " ")))
		m.flash.candidates = true
	}
}

// argumentsOf are the words that may follow a command.
func (m *Model) argumentsOf(command string) []string {
	var out []string
	switch command {
	case "tab", "close", "split":
		out = m.tabWords()
		if command == "split" {
			out = append(out, "right", "down")
		}
	case "approve", "deny":
		for _, it := range m.approvals.Items {
			out = append(out, fmt.Sprint(it.Call.Number))
		}
		out = append(out, "all")
	case "mute":
		return []string{"all"}
	case "theme":
		return view.ThemeNames()
	case "new":
		for _, a := range m.agents {
			out = append(out, a.Name)
		}
		out = append(out, "--workspace", "--worktree", "--no-worktree")
	}
	return out
}

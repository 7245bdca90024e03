package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// runEdit is /edit.
func (m *Model) runEdit(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil || !t.attached {
		return nil, &hinted{errors.New("nothing to edit"), "wait until the agent runs"}
	}
	return m.editScrollback(t, t.topLine(m.focusedRect().H)), nil
}

// editScrollback opens all lines of a tab in the person's editor, at one of
// them. The editor has the terminal until it ends; the agents run on.
func (m *Model) editScrollback(t *tab, line int) tea.Cmd {
	if m.editing {
		return nil
	}
	m.editing = true
	heading := fmt.Sprintf("What tab %d, %s, has written. It is a copy; changes go nowhere.", t.session.Tab, view.Sanitize(t.title()))
	name := fmt.Sprintf("scrollback-tab%d.txt", t.session.Tab)
	screen, out := t.pane.screen, m.sink
	return m.do(func(ctx context.Context) tea.Msg {
		text, at := scrollbackText(screen, heading, line)
		argv, err := editorAt(at)
		if err == nil {
			err = out.Edit(ctx, argv, name, text)
		}
		return editedMsg{err}
	})
}

// onEdited notes that the terminal is back.
func (m *Model) onEdited(msg editedMsg) {
	m.editing, m.dirty = false, true
	if msg.err != nil {
		m.showError(fmt.Errorf("edit: %w", msg.err))
	}
}

// marginLines is how many lines of our own stand above and below an agent's
// text in an editor. Editors obey instructions that they find near the ends of
// a file, vi's in the first and last five lines, so none of these is the agent's;
// a form feed keeps emacs from looking further up than to itself.
const marginLines = 5

// scrollbackText writes down all lines of a screen, those that were wrapped
// joined again, and the number of the line in which a line of the screen stands.
func scrollbackText(screen *term.Screen, heading string, line int) (text []byte, at int) {
	var b bytes.Buffer
	b.WriteString(heading)
	b.WriteString(strings.Repeat("\n", marginLines))
	total, number, body := screen.LineCount(), marginLines+1, b.Len()
	end := body // behind the last line that has something in it
	at = number
	for i := range total {
		if i == line {
			at = number
		}
		cells, wrapped := screen.Line(i)
		row := view.CellText(cells)
		if !wrapped {
			row = strings.TrimRight(row, " ") + "\n"
			number++
		}
		b.WriteString(row)
		if row != "\n" {
			end = b.Len()
		}
	}
	b.Truncate(end)
	if end > body && b.Bytes()[end-1] != '\n' {
		b.WriteByte('\n')
	}
	lines := bytes.Count(b.Bytes(), []byte("\n"))
	b.WriteString("\f" + strings.Repeat("\n", marginLines+1))
	return b.Bytes(), min(at, max(marginLines+1, lines))
}

// editorAt is the command line of the person's editor, which begins at a line
// when it is known how to say so.
func editorAt(line int) ([]string, error) {
	argv := strings.Fields(os.Getenv("VISUAL"))
	if len(argv) == 0 {
		argv = strings.Fields(os.Getenv("EDITOR"))
	}
	for _, name := range []string{"editor", "vi", "nano"} {
		if len(argv) > 0 {
			break
		}
		if path, err := exec.LookPath(name); err == nil {
			argv = []string{path}
		}
	}
	if len(argv) == 0 {
		return nil, &hinted{errors.New("there is no editor"), "set EDITOR to the name of one"}
	}
	switch filepath.Base(argv[0]) {
	case "vi", "vim", "nvim", "view", "editor", "nano", "emacs", "emacsclient", "less", "micro", "kak", "joe", "jed", "mg":
		argv = append(argv, fmt.Sprintf("+%d", line))
	}
	return argv, nil
}

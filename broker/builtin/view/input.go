package view

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Bounds of the input.
const (
	maxShown  = 8    // rows that are shown
	maxRows   = 1000 // rows that the input can have
	shownText = 1000 // bytes of a paste that is shown as text
)

// input is the text that the person writes, the texts that they sent before, and the texts of large
// pastes, in place of which labels are shown.
type input struct {
	area    textarea.Model
	pasted  []string // label and text, alternating
	history []string
	at      int    // index in history; len(history) means the draft
	draft   string // the text before the history was opened
}

func newInput() input {
	a := textarea.New()
	a.ShowLineNumbers = false
	a.CharLimit = 0
	a.DynamicHeight, a.MaxHeight, a.MaxContentHeight = true, maxShown, maxRows
	a.SetPromptFunc(2, func(p textarea.PromptInfo) string {
		if p.LineNumber == 0 {
			return "> "
		}
		return "  "
	})
	a.SetStyles(textarea.Styles{}) // so that its rows are plain text
	a.SetVirtualCursor(false)
	k := &a.KeyMap
	k.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "ctrl+j", "shift+enter"))
	for _, b := range []*key.Binding{
		&k.Paste, // it would start a program
		&k.CopySelection, &k.SelectAll, &k.SelectCharacterForward, &k.SelectCharacterBackward,
		&k.SelectWordForward, &k.SelectWordBackward, &k.SelectLineUp, &k.SelectLineDown,
	} {
		b.SetEnabled(false)
	}
	a.Focus()
	return input{area: a}
}

func (in *input) resize(cols, rows int) {
	in.area.MaxHeight = min(maxShown, max(1, rows/3))
	in.area.SetWidth(max(4, cols-1))
}

func (in *input) empty() bool { return in.area.Length() == 0 }

// text returns the input's text, with the texts of pastes in place of their labels.
func (in *input) text() string { return strings.NewReplacer(in.pasted...).Replace(in.area.Value()) }

func (in *input) set(s string) {
	in.area.SetValue(s)
	in.area.MoveToEnd()
}

func (in *input) clear() {
	in.area.Reset()
	in.at = len(in.history)
}

// sent adds the text to the history and clears the input.
func (in *input) sent() {
	in.history = append(in.history, in.area.Value())
	in.clear()
}

// press edits the text. Up in the first row and down in the last one move in the history.
func (in *input) press(k tea.KeyPressMsg) {
	line, info := in.area.Line(), in.area.LineInfo()
	switch s := k.String(); {
	case s == "up" && line == 0 && info.RowOffset == 0:
		in.recall(-1)
	case s == "down" && line == in.area.LineCount()-1 && info.RowOffset >= info.Height-1:
		in.recall(1)
	default:
		in.area, _ = in.area.Update(k)
	}
}

func (in *input) recall(by int) {
	to := in.at + by
	if to < 0 || to > len(in.history) {
		return
	}
	if in.at == len(in.history) {
		in.draft = in.area.Value()
	}
	in.at = to
	if to == len(in.history) {
		in.set(in.draft)
	} else {
		in.set(in.history[to])
	}
}

// paste inserts a text.
func (in *input) paste(s string) { in.area.InsertString(in.shown(s)) }

// shown returns what the input shows for a text: the text or, if that is large or has characters
// that cannot be shown, a label.
func (in *input) shown(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	lines := strings.Count(s, "\n") + 1
	if len(s) <= shownText && lines <= maxShown {
		if plain(s) {
			return s
		}
	}
	size := grouped(lines) + " lines"
	if lines == 1 {
		size = grouped(len(s)) + " bytes"
	}
	sign := fmt.Sprintf("[pasted %s]", size)
	for n := 2; in.known(sign); n++ {
		sign = fmt.Sprintf("[pasted %s, %d]", size, n)
	}
	in.pasted = append(in.pasted, sign, s)
	return sign
}

// plain reports whether a text can be shown as it is.
func plain(s string) bool {
	for len(s) > 0 {
		c := text.Cluster(s)
		if c == "" && s[0] != '\n' {
			return false
		}
		s = s[max(1, len(c)):]
	}
	return true
}

func (in *input) known(sign string) bool {
	for i := 0; i < len(in.pasted); i += 2 {
		if in.pasted[i] == sign {
			return true
		}
	}
	return false
}

// grouped formats a number with commas between groups of three digits.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

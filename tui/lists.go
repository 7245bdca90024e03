package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// historyLength is how many decisions are shown.
const historyLength = 200

// runHistory is /history: what was decided, by whom, when and how.
func (m *Model) runHistory(args string) (tea.Cmd, error) {
	switch word, number, _ := strings.Cut(args, " "); word {
	case "":
	case "again":
		return m.askAgain(strings.TrimSpace(number))
	default:
		return nil, fault.New("/history, or /history again 5", "/history does not take %s", word)
	}
	list := func(ctx context.Context) ([]broker.Decided, error) { return m.api.History(ctx, historyLength) }
	return request(m, list, m.showHistory), nil
}

func (m *Model) showHistory(decided []broker.Decided) {
	var lines []view.Line
	for _, d := range decided {
		lines = append(lines, view.Line{
			Key:  d.At.Local().Format(time.TimeOnly) + " " + broker.ShortID(d.Session),
			Text: text.Drawable(d.Agent) + ": " + panel.DecidedText(d, m.o.Client),
		})
	}
	for i := len(m.approvals.Log) - 1; i >= 0; i-- { // the broker does not list decisions of closed sessions
		if r := m.approvals.Log[i]; m.tabOf(r.Session) == nil {
			lines = append(lines, view.Line{Text: panel.ResolutionText(r.Resolution, m.o.Client)})
		}
	}
	if len(lines) == 0 {
		lines = []view.Line{{Text: "nothing was decided yet"}}
	}
	m.showHelp("decisions, newest first", lines)
}

// runDone is /done. It shows the calls that were approved automatically in this tab, in full.
func (m *Model) runDone(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("with automatic approvals")
	}
	id := t.session.ID
	list := func(ctx context.Context) ([]broker.AutoApproval, error) { return m.api.AutoApprovals(ctx, id) }
	return request(m, list, m.showDone), nil
}

func (m *Model) showDone(list []broker.AutoApproval) {
	if len(list) == 0 {
		m.showInfo("nothing was approved automatically in this tab")
		return
	}
	lines := []view.Line{{Text: "These calls were approved automatically, newest first. They cannot be undone from here."}}
	for _, a := range slices.Backward(list) {
		lines = append(lines, panel.DoneLines(a)...)
	}
	m.showHelp("approved automatically", lines)
}

// runDiff is /diff.
func (m *Model) runDiff(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("whose workspace could be shown")
	}
	id, name := t.session.ID, t.name()
	m.showHelp(lookingTitle, []view.Line{{Text: "looking at the workspace"}})
	return m.do(func(ctx context.Context) tea.Msg {
		c, err := m.api.Changes(ctx, id)
		lines := panel.ChangesLines(c)
		return answerMsg(func() {
			m.fillList(lookingTitle, err, func() { m.showHelp(changesTitle(name, c), lines) })
		})
	}), nil
}

func changesTitle(name string, c broker.Changes) string {
	switch {
	case !c.Since.IsZero():
		return fmt.Sprintf("%s: names of the files written since its start", name)
	case c.Base == "":
		return fmt.Sprintf("files of %s; its workspace is not a repository with a commit", name)
	}
	return fmt.Sprintf("%s: changed since its start at %s", name, c.Base[:min(8, len(c.Base))])
}

// lookingTitle is the title of the list until the changes are known.
const lookingTitle = "changes"

// fillList fills the list that was opened with a title until the answer came. If the person has closed
// it, fillList does nothing.
func (m *Model) fillList(opened string, err error, fill func()) {
	switch {
	case m.mode != modeHelp || m.help.Title != opened:
	case err != nil:
		m.leaveCommand()
		m.showError(err)
	default:
		fill()
	}
}

// againText tells an agent to make an expired call again. The words are not the person's, so they
// count as pasted.
const againText = "Nobody was there to decide about your last call that needed approval, and so it was refused. Somebody is here now: make that call again."

// askAgain is /history again: it tells the agent of an expired call to make the call again. Without a
// number it chooses the newest expired call.
func (m *Model) askAgain(number string) (tea.Cmd, error) {
	n, isNumber := input.Number(strings.TrimPrefix(number, "#"))
	if number != "" && !isNumber {
		return nil, fault.New("/history again 5", "%s is not the number of a call", number)
	}
	var expired *panel.SettledCall
	for i, s := range m.approvals.Log {
		if s.Outcome == broker.Expired && (number == "" || s.Number == n) {
			expired = &m.approvals.Log[i]
		}
	}
	if expired == nil {
		return nil, fault.New("/history lists what was decided", "no such call has expired while this view was open")
	}
	t := m.tabOf(expired.Session)
	if t == nil || t.dead() {
		return nil, fault.New("/resume continues its session", "the agent of call #%d has ended", expired.Number)
	}
	words := input.Pasted(againText)
	return m.submit(broker.TrustedInput{Session: t.session.ID, Text: input.TextOf(words), Spans: input.SpansOf(words)}, words), nil
}

// searched is the search in a list.
type searched struct {
	typing bool // the person is typing into line
	line   input.Line
	from   int    // the first row that was shown when the search began
	before string // the former query
}

// onHelpKey handles a key in the help screen.
func (m *Model) onHelpKey(name, text string) tea.Cmd {
	m.dirty = true
	at := m.listRect()
	m.help.Lay(at)
	if m.searched.typing {
		m.onListSearchKey(name, text)
		return nil
	}
	if m.following.id != "" && m.keys.At(input.PlaceStarting, name) == input.ActLog {
		m.leaveCommand()
		return nil
	}
	switch m.keys.At(input.PlaceHelp, name) {
	case input.ActHelpDown:
		m.help.ScrollDown(1)
	case input.ActHelpUp:
		m.help.ScrollUp(1)
	case input.ActHelpPage:
		m.help.PageDown()
	case input.ActHelpPageUp:
		m.help.PageUp()
	case input.ActHelpSearch:
		m.searched = searched{typing: true, from: m.help.YOffset(), before: m.help.Query()}
	case input.ActHelpNext:
		m.help.Step(1, at)
	case input.ActHelpPrev:
		m.help.Step(-1, at)
	case input.ActLeave:
		if name == "esc" && m.help.Query() != "" {
			m.help.Search("", at, 0)
			break
		}
		m.leaveCommand()
	}
	return nil
}

// onListSearchKey handles a key while the person types a query for a list. Each key shows the first
// match.
func (m *Model) onListSearchKey(name, text string) {
	s := &m.searched
	switch a := m.keys.At(input.PlaceCommand, name); {
	case a == input.ActLeave || name == "ctrl+c", a == input.ActBackspace && s.line.Empty():
		s.typing = false
		m.help.Search(s.before, m.listRect(), s.from)
		m.help.SetYOffset(s.from)
		return
	case a == input.ActEnter:
		if s.typing = false; s.line.Empty() {
			m.help.Search(s.before, m.listRect(), s.from)
		}
		return
	case a != "":
		s.line.Edit(a)
	case input.Printable(text):
		s.line.Insert(text, false)
	}
	m.searchList()
}

// searchList searches a list for the typed query, from the row where the search began.
func (m *Model) searchList() {
	m.help.SetYOffset(m.searched.from)
	m.help.Search(m.searched.line.Text(), m.listRect(), m.searched.from)
}

// listHints returns what the person can do in a list.
func (m *Model) listHints() []string {
	at := m.listRect()
	m.help.Lay(at)
	found := m.help.Found(at)
	switch {
	case m.searched.typing:
		return input.NonEmpty(found, m.keys.Hint(input.PlaceCommand, input.ActEnter, "stays here"), m.keys.Hint(input.PlaceCommand, input.ActLeave, "back"))
	case found != "":
		next := m.keys.KeyFor(input.PlaceHelp, input.ActHelpNext) + " " + m.keys.Hint(input.PlaceHelp, input.ActHelpPrev, "next, before")
		return input.NonEmpty(found, next, "Esc ends the search")
	}
	more, search := "", ""
	if !m.help.AtBottom() {
		more = m.keys.Hint(input.PlaceHelp, input.ActHelpPage, "more")
	}
	if m.cols >= wideCols {
		search = m.keys.Hint(input.PlaceHelp, input.ActHelpSearch, "searches")
	}
	return input.NonEmpty(more, m.keys.Hint(input.PlaceHelp, input.ActLeave, "close"), search)
}

func (m *Model) showHelp(title string, lines []view.Line) {
	m.help, m.following, m.searched = view.NewList(title, lines), following{}, searched{}
	m.mode, m.dirty = modeHelp, true
}

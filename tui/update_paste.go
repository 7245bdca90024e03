package tui

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// pasteState remembers where the first piece of a paste went, so that the rest goes there
// too: a paste is never split between an agent and the command line.
type pasteState struct {
	active  bool
	to      *tab   // nil: the paste is for the command line, or dropped
	on      bool   // the command line has a piece of the paste
	refused bool   // a piece did not fit, and an error said so; the rest is dropped
	text    []byte // the beginning of a paste to an agent, a little more than maxOffered bytes at most
}

// onPaste handles one piece of a paste. All pieces go where the first one went.
func (m *Model) onPaste(ev keys.Event) {
	p := &m.pasting
	if ev.Paste.Start {
		*p = pasteState{active: true}
		m.approvals.Unfocus()
		if t := m.current(); m.mode == modeTerminal && m.question == nil && t != nil && !t.dead() && m.mayOperate() {
			p.to = t
		}
		m.touch()
	}
	switch {
	case p.to != nil:
		m.pasteToAgent(ev)
	case m.question == nil && (m.mode == modeCommand || m.mode == modeCopy && m.copying.Searching || m.mode == modeHelp && m.searched.typing):
		m.pasteToLine(ev.Paste.Data)
	}
	if ev.Paste.End {
		*p = pasteState{}
	}
}

// pasteToAgent passes a piece on to the agent. When a piece does not fit the agent's queue,
// the rest is refused. The end marker is sent in any case, because the agent would
// otherwise take all later keys for pasted text.
func (m *Model) pasteToAgent(ev keys.Event) {
	p := &m.pasting
	p.to.used(ev, m.now())
	if len(p.text) <= maxOffered {
		p.text = append(p.text, ev.Paste.Data[:min(len(ev.Paste.Data), maxOffered+1)]...)
	}
	if ev.Paste.End && len(p.text) <= maxOffered {
		m.later = join(m.later, m.offerAttachment(p.to, string(p.text)))
	}
	data := keys.Encode(ev, p.to.pane.Screen.Modes())
	if !p.refused && p.to.pane.Put(data) {
		return
	}
	if !p.refused {
		p.refused = true
		m.showError(fault.New("wait, or /close it", "%s takes no input; the rest of the paste was not sent", p.to.title()))
	}
	if ev.Paste.End {
		end := keys.Event{Kind: keys.PasteEvent, Paste: keys.Paste{End: true}}
		p.to.pane.PutLast(keys.Encode(end, p.to.pane.Screen.Modes()))
	}
}

// pasteToLine inserts pasted text into the command line.
func (m *Model) pasteToLine(data []byte) {
	if len(data) == 0 || m.pasting.refused {
		return
	}
	m.dirty = true
	line := m.editedLine()
	if line == &m.line && line.Empty() {
		m.beginLine()
	}
	put := line.Paste
	if m.pasting.on {
		put = line.PasteOn
	}
	m.pasting.on = true
	if !put(string(data)) {
		m.pasting.refused = true
		m.showError(fault.New("paste into the agent itself", "the paste is too long for the command line; its end was left out"))
	}
	switch m.mode {
	case modeCopy:
		m.copying.Typed()
	case modeHelp:
		m.searchList()
	}
}

// pasteCopied pastes what was copied last into the agent.
func (m *Model) pasteCopied() {
	switch {
	case len(m.copied) == 0:
		m.showInfo("nothing was copied here yet")
	case !m.mayOperate():
		m.showError(errReadOnly("paste"))
	default:
		m.onPaste(keys.Event{Kind: keys.PasteEvent, Paste: keys.Paste{Start: true, Data: m.copied, End: true}})
	}
}

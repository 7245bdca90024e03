package view

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/builtin"
)

// Messages to the model, besides Bubble Tea's own.
type (
	happened []builtin.Event
	ended    struct{ err error } // the turn
	said     struct {            // what came of a command
		what, model string
		err         error
	}
	opened struct { // a program's code
		n    int
		code string
	}
	leave struct{} // the input or the context has ended
	tick  struct{}
)

// model is what is shown. Its methods run on Bubble Tea's loop and never wait.
type model struct {
	o    Options
	keys *keyboard
	// job runs do on a goroutine that Run waits for. turn does so with a turn.
	job  func(do func() tea.Msg)
	turn func(ctx context.Context, do func(context.Context) error)
	// draw hands rows for the scrollback, and what is live, to the terminal.
	draw func(above []row, f frame)

	cols, rows int
	input      input
	words      markdown
	heard      []byte // of the answer that arrives
	current    *program
	programs   []*program // all of them
	retry      *builtin.Event
	used       builtin.Event
	queue      []string
	stop       context.CancelCauseFunc // ends the turn; nil when none runs
	stopping   bool
	hint       string
	counting   bool // a tick is on its way
	quitting   bool
	gone       chan struct{} // closed with quitting

	above  []row // to be printed
	worked bool  // a turn began
}

func (m *model) Init() tea.Cmd {
	m.show()
	return nil
}

// View has nothing for Bubble Tea, whose renderer does not run.
func (m *model) View() tea.View { return tea.View{} }

// Update takes what happened.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.cols, m.rows = msg.Width, msg.Height
		m.input.resize(msg.Width, msg.Height)
	case tea.PasteMsg:
		m.input.paste(m.keys.take(msg.Content))
	case tea.PasteEndMsg:
		if m.quitting {
			cmd = tea.Quit
		}
	case tea.KeyPressMsg:
		m.press(msg)
	case happened:
		if m.quitting {
			break
		}
		for _, e := range msg {
			m.apply(e)
		}
		m.count()
	case tick:
		m.counting = false
		m.count()
	case ended:
		m.end(msg.err)
	case said:
		if msg.err != nil {
			m.complain(msg.err.Error())
		} else {
			m.print(m.ours(foreign(msg.what, muted))...)
		}
		if msg.model != "" {
			m.used.Model = msg.model
		}
	case opened:
		m.print(own("  program "+grouped(msg.n), strong))
		for line := range strings.SplitSeq(strings.TrimRight(msg.code, "\n"), "\n") {
			m.print(m.theirs(wrap(foreign(line, code), m.width()-2, false))...)
		}
	case leave:
		m.leave(builtin.ErrGone) // nobody is there any more
	}
	m.show()
	return m, cmd
}

// count has a frame drawn each second while the model is to be asked again.
func (m *model) count() {
	if m.retry == nil || m.counting || m.quitting {
		return
	}
	m.counting = true
	m.job(func() tea.Msg {
		select {
		case <-time.After(time.Second):
		case <-m.gone:
		}
		return tick{}
	})
}

// width is the columns that rows may have. The last column stays free, so that no row
// wraps by itself.
func (m *model) width() int { return max(m.cols-1, 4) }

func (m *model) print(rows ...row) { m.above = append(m.above, rows...) }

// ours marks rows as our own words, theirs as the model's.
func (m *model) ours(parts ...row) []row {
	var all row
	for _, p := range parts {
		all = append(all, p...)
	}
	return prefixed(own("  ", 0), own("  ", 0), wrap(all, m.width()-2, true))
}

func (m *model) theirs(rows []row) []row {
	return prefixed(own("│ ", muted), own("│ ", muted), rows)
}

func (m *model) complain(what string) { m.print(m.ours(foreign(what, bad))...) }

// show hands what is to be seen to the terminal.
func (m *model) show() {
	m.draw(m.above, m.frame())
	m.above = nil
}

// state is what the multiplexer is told with OSC 7501.
func (m *model) state() string {
	switch {
	case m.quitting, m.stop == nil && !m.worked:
		return "idle"
	case m.current != nil && m.current.waits():
		return "blocked"
	case m.stop != nil:
		return "working"
	}
	return "done"
}

// apply takes what has happened in the conversation.
func (m *model) apply(e builtin.Event) {
	if e.Kind != builtin.Used && e.Kind != builtin.Retrying {
		m.retry = nil
	}
	if e.Kind != builtin.Saying && e.Kind != builtin.Said && e.Kind != builtin.Used {
		m.print(m.theirs(m.words.end(m.width() - 2))...)
		m.heard = nil
	}
	switch e.Kind {
	case builtin.Asked:
		m.print(append([]row{nil}, m.asked(e.Text)...)...)
	case builtin.Saying:
		m.heard = append(m.heard, e.Text...)
		m.print(m.theirs(m.words.add(e.Text, m.width()-2))...)
	case builtin.Said:
		m.said(e.Text)
	case builtin.ProgramBegan:
		m.begin(&program{n: e.Program, code: e.Text})
	case builtin.CallChanged:
		if m.current == nil || m.current.n != e.Program {
			m.begin(&program{n: e.Program})
		}
		m.current.change(e.Call)
	case builtin.ProgramEnded:
		if m.current == nil || m.current.n != e.Program {
			m.begin(&program{n: e.Program})
		}
		m.current.ended, m.current.failed, m.current.result = true, e.Failed, e.Text
		m.close()
	case builtin.Retrying:
		m.retry = &e
	case builtin.Notice, builtin.Looping, builtin.Compacting:
		m.print(m.ours(foreign(e.Text, muted))...)
	case builtin.Used:
		m.used = e
	case builtin.Unfinished:
		if m.stop == nil { // else the turn that runs goes on with it
			m.enqueue("")
		}
	}
}

// said ends an answer. What of it has not arrived in pieces is shown now.
func (m *model) said(whole string) {
	heard := string(m.heard)
	m.heard = nil
	rest, continues := strings.CutPrefix(whole, heard)
	if !continues {
		m.words = markdown{}
		if whole == "" {
			m.print(m.ours(own("the answer broke off; what there is of it does not count", muted))...)
			return
		}
		m.print(m.ours(own("the answer arrived otherwise:", muted))...)
	}
	m.print(m.theirs(m.words.add(rest, m.width()-2))...)
	m.print(m.theirs(m.words.end(m.width() - 2))...)
}

// asked shows the person's words. Of many rows the first are enough: the person has the
// rest, and what was pasted is foreign, too.
func (m *model) asked(what string) (rows []row) {
	const most = 20
	lines := strings.Split(what, "\n")
	for i, line := range lines {
		if i == most {
			return append(rows, own("> … "+grouped(len(lines)-most)+" more lines", muted))
		}
		cut := line[:min(len(line), 4000)]
		rs := wrap(foreign(cut, strong), m.width()-2, true)
		if len(cut) < len(line) {
			rs = append(rs, own("… "+grouped(len(line)-len(cut))+" more bytes", muted))
		}
		rows = append(rows, prefixed(own("> ", strong), own("> ", strong), rs)...)
	}
	return rows
}

// begin shows a program from now on, close prints it. What of its calls nobody has reported
// to be over is cut off then.
func (m *model) begin(p *program) {
	m.close()
	m.current = p
	m.programs = append(m.programs, p)
}

func (m *model) close() {
	if m.current != nil {
		for i, c := range m.current.calls {
			if !over(c) {
				m.current.calls[i].State = builtin.CallCut
			}
		}
		m.print(m.current.rows(m.width())...)
		m.current.forget()
		m.current = nil
	}
}

// enqueue has a text asked after what was asked before.
func (m *model) enqueue(what string) {
	m.queue = append(m.queue, what)
	m.start()
}

// start begins a turn with the text that waits longest, unless one runs.
func (m *model) start() {
	if m.stop != nil || m.quitting || len(m.queue) == 0 {
		return
	}
	what := m.queue[0]
	m.queue = m.queue[1:]
	ctx, stop := context.WithCancelCause(context.Background())
	m.stop, m.worked = stop, true
	m.turn(ctx, func(ctx context.Context) error {
		if what == "/compact" {
			return m.o.Agent.Compact(ctx)
		}
		return m.o.Agent.Turn(ctx, what)
	})
}

// end takes the end of a turn.
func (m *model) end(err error) {
	m.print(m.theirs(m.words.end(m.width() - 2))...)
	m.close()
	m.heard, m.retry = nil, nil
	switch {
	case m.stopping:
		m.print(m.ours(own("interrupted", muted))...)
	case err != nil && !errors.Is(err, context.Canceled):
		m.complain(err.Error())
	}
	m.stop(nil)
	m.stop, m.stopping = nil, false
	m.start()
}

// leave ends the view, when all keys before have arrived. A turn that runs ends with that
// cause, and what is shown of it stays.
func (m *model) leave(why error) {
	if m.quitting {
		return
	}
	m.print(m.theirs(m.words.end(m.width() - 2))...)
	m.close()
	m.quitting = true
	close(m.gone)
	if m.stop != nil {
		m.stop(why)
	}
	m.job(func() tea.Msg {
		m.keys.end()
		return nil
	})
}

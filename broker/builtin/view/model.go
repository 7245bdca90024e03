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
	ended    struct{ err error } // a turn has ended
	said     struct {            // the result of a command
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

// model is the state of the view. Its methods run on Bubble Tea's loop and never block.
type model struct {
	o    Options
	keys *keyboard
	// job runs do on a goroutine that Run waits for. turn does the same for a turn.
	job  func(do func() tea.Msg)
	turn func(ctx context.Context, do func(context.Context) error)
	// draw passes rows for the scrollback, and the frame, to the screen.
	draw func(above []row, f frame)

	cols, rows int
	input      input
	words      markdown
	arrived    []byte // pieces of the answer so far
	current    *program
	programs   []*program // all of them
	retry      *builtin.Event
	used       builtin.Event
	queue      []string
	stop       context.CancelCauseFunc // ends the turn; nil when none runs
	stopping   bool
	hint       string
	counting   bool // a tick will come
	quitting   bool
	gone       chan struct{} // closed with quitting

	above  []row // to be printed
	worked bool  // there was a turn
}

func (m *model) Init() tea.Cmd {
	m.show()
	return nil
}

// View returns nothing, because Bubble Tea's renderer does not run.
func (m *model) View() tea.View { return tea.View{} }

// Update handles a message.
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
			m.printError(msg.err.Error())
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
		m.leave(builtin.ErrGone)
	}
	m.show()
	return m, cmd
}

// count draws a frame each second during the wait for a retry.
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

// width returns how many columns a row may have. The last column stays free, so that the terminal
// wraps no row.
func (m *model) width() int { return max(m.cols-1, 4) }

func (m *model) print(rows ...row) { m.above = append(m.above, rows...) }

// ours gives rows the prefix of our own words, theirs that of the model's.
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

func (m *model) printError(what string) { m.print(m.ours(foreign(what, bad))...) }

// show passes printed rows and the frame to the screen.
func (m *model) show() {
	m.draw(m.above, m.frame())
	m.above = nil
}

// state returns the state that is reported to the multiplexer with OSC 7501.
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

// apply handles an event of the conversation.
func (m *model) apply(e builtin.Event) {
	if e.Kind != builtin.Used && e.Kind != builtin.Retrying {
		m.retry = nil
	}
	if e.Kind != builtin.Saying && e.Kind != builtin.Said && e.Kind != builtin.Used {
		m.print(m.theirs(m.words.end(m.width() - 2))...)
		m.arrived = nil
	}
	switch e.Kind {
	case builtin.Asked:
		m.print(append([]row{nil}, m.asked(e.Text)...)...)
	case builtin.Saying:
		m.arrived = append(m.arrived, e.Text...)
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
		if m.stop == nil { // otherwise the running turn resumes the program
			m.enqueue("")
		}
	}
}

// said ends an answer, and shows the part that has not arrived in pieces.
func (m *model) said(whole string) {
	arrived := string(m.arrived)
	m.arrived = nil
	rest, continues := strings.CutPrefix(whole, arrived)
	if !continues {
		m.words = markdown{}
		if whole == "" {
			m.print(m.ours(own("the answer broke off; the part above is discarded", muted))...)
			return
		}
		m.print(m.ours(own("the complete answer differs from the part above:", muted))...)
	}
	m.print(m.theirs(m.words.add(rest, m.width()-2))...)
	m.print(m.theirs(m.words.end(m.width() - 2))...)
}

// asked returns the rows of the person's text. A long one is cut, because the person knows it. It is
// not trusted, because parts may be pasted.
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

// begin makes p the program that is shown in the frame. close prints it to the scrollback; its calls
// that were not reported as over are then marked as cut off.
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

// enqueue adds a text to the queue.
func (m *model) enqueue(what string) {
	m.queue = append(m.queue, what)
	m.start()
}

// start starts a turn with the first text of the queue, unless a turn runs.
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

// end handles the end of a turn.
func (m *model) end(err error) {
	m.print(m.theirs(m.words.end(m.width() - 2))...)
	m.close()
	m.arrived, m.retry = nil, nil
	switch {
	case m.stopping:
		m.print(m.ours(own("interrupted", muted))...)
	case err != nil && !errors.Is(err, context.Canceled):
		m.printError(err.Error())
	}
	m.stop(nil)
	m.stop, m.stopping = nil, false
	m.start()
}

// leave ends the view once all earlier keys have arrived. A running turn is cancelled with the cause
// why; what it has shown stays.
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

package start

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/rivo/uniseg"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// promptLine is the line that a person edits in start. It knows for each character whether it
// was typed or pasted. Output is printed above the line.
type promptLine struct {
	terminal *outer.Lines
	screen   io.Writer // the terminal
	bound    *input.Keys

	mu      sync.Mutex
	line    input.Line
	paste   []byte // the part of a paste that has arrived
	invited bool   // the line is shown even if it is empty
	drawn   bool   // the line is on the screen
	midLine bool   // other output has not ended its line
}

// promptText is printed before the line.
const promptText = "> "

// openPromptLine takes over a terminal. It returns nil if in and screen are not a terminal on
// which a line can be drawn; then the terminal itself edits the lines. With ctrlC, Ctrl-C
// clears the line; on an empty line it is delivered as a typedLine.
func openPromptLine(in, screen *outer.Stream, passed outer.Passed, keys input.Choice, ctrlC bool) *promptLine {
	terminal, err := outer.OpenLines(in, screen, passed, ctrlC)
	if err != nil {
		return nil
	}
	bound, err := input.Bind(keys)
	if err != nil { // the multiplexer reports the error
		bound, _ = input.Bind(input.Choice{})
	}
	return &promptLine{terminal: terminal, screen: screen, bound: bound}
}

// read sends every line that is entered until the input or ctx ends. The caller calls done
// before others use the terminal.
func (p *promptLine) read(ctx context.Context) (lines <-chan typedLine, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan typedLine, 16) // must-deliver; while it is full, no more input is read
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(out)
		deliver := func(events []keys.Event) {
			for _, ev := range events {
				entered, ended := p.event(ev)
				if ended {
					cancel()
					return
				}
				if entered.text == "" && !entered.ctrlC {
					continue
				}
				select {
				case out <- entered:
				case <-ctx.Done():
					return
				}
			}
			p.redraw()
		}
		_ = p.terminal.Listen(ctx, deliver, p.leave, p.back) // without the terminal there are no lines
	})
	return out, func() {
		cancel()
		reading.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.erase()
		_ = p.terminal.Close() // an error can no longer be reported
	}
}

// event edits the line without drawing it. It returns the line when it was entered, and reports the
// end of the input.
func (p *promptLine) event(ev keys.Event) (entered typedLine, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case ev.Kind == keys.PasteEvent:
		p.paste = append(p.paste, ev.Paste.Data...)
		if !ev.Paste.End {
			return entered, false
		}
		p.line.Paste(string(bytes.TrimRight(p.paste, "\r\n"))) // ignores a paste that does not fit
		p.paste = nil
	case ev.Kind != keys.KeyEvent || ev.Key.Action == keys.Release:
		return entered, false
	default:
		entered, ended = p.key(ev.Key)
	}
	return entered, ended
}

// key handles one key. The caller holds the lock.
func (p *promptLine) key(k keys.Key) (entered typedLine, ended bool) {
	name := input.KeyName(k)
	action := p.bound.At(input.PlaceCommand, name)
	typed := ""
	if k.Mods&(keys.Ctrl|keys.Alt) == 0 {
		typed = k.Text
	}
	switch {
	case p.line.Searching():
		if p.line.SearchKey(p.bound, name, typed) == input.SearchRuns {
			return p.enter(), false
		}
	case name == "ctrl+d" && p.line.Empty():
		return entered, true
	case name == "ctrl+c" && p.line.Empty():
		return typedLine{ctrlC: true, at: time.Now()}, false
	case name == "ctrl+c":
		p.line.Take()
	case action == input.ActEnter:
		return p.enter(), false
	case action == input.ActSearch:
		p.line.BeginSearch()
	case action != "":
		p.line.Edit(action)
	case typed != "":
		p.line.Insert(typed, false)
	}
	return entered, false
}

// enter returns the line and prints all of it on the screen.
func (p *promptLine) enter() typedLine {
	entered := typedLine{text: p.line.Text(), at: time.Now()}
	for _, s := range input.SpansOf(p.line.Pieces) {
		entered.spans = append(entered.spans, receipt.Span(s))
	}
	p.erase()
	if entered.text != "" {
		var shown strings.Builder
		for _, piece := range p.line.Pieces {
			shown.WriteString(onScreen(piece))
		}
		fmt.Fprintln(p.screen, promptText+shown.String())
		p.invited = false
	}
	p.line.Take()
	return entered
}

// onScreen returns how a piece of the line is drawn. The person knows what they typed, so
// spaces and backslashes stay as they are.
func onScreen(piece input.Piece) string {
	if piece.Text == " " || piece.Text == `\` {
		return piece.Text
	}
	return text.Drawable(piece.Text)
}

// leave removes the line from the screen, and blocks all output until back is called.
func (p *promptLine) leave() {
	p.mu.Lock()
	p.erase()
}

func (p *promptLine) back() {
	defer p.mu.Unlock()
	p.draw()
}

// invite shows the line, because a task is expected.
func (p *promptLine) invite() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.invited = true
	p.draw()
}

// redraw draws the line after it was edited.
func (p *promptLine) redraw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draw()
}

// above returns a writer whose output appears above the line.
func (p *promptLine) above(w io.Writer) io.Writer { return aboveLine{p, w} }

type aboveLine struct {
	*promptLine
	w io.Writer
}

func (a aboveLine) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.erase()
	n, err := a.w.Write(b)
	a.midLine = !bytes.HasSuffix(b, []byte("\n"))
	a.draw()
	return n, err
}

// erase removes the line from the screen. The caller holds the lock.
func (p *promptLine) erase() {
	if p.drawn {
		fmt.Fprint(p.screen, "\r\x1b[K")
	}
	p.drawn = false
}

// draw draws as much of the line as fits in one row. The caller holds the lock.
func (p *promptLine) draw() {
	if p.midLine || !p.invited && p.line.Empty() && !p.line.Searching() {
		p.erase()
		return
	}
	before, behind, back := "", "", 0
	prompt := cmp.Or(p.line.SearchPrompt(p.terminal.Cols()), promptText)
	room := max(1, p.terminal.Cols()-uniseg.StringWidth(prompt)-1)
	for i := p.line.Cursor - 1; i >= 0; i-- {
		shown := onScreen(p.line.Pieces[i])
		if room -= uniseg.StringWidth(shown); room < 0 {
			break
		}
		before = shown + before
	}
	for _, piece := range p.line.Pieces[p.line.Cursor:] {
		shown := onScreen(piece)
		width := uniseg.StringWidth(shown)
		if room -= width; room < 0 {
			break
		}
		behind, back = behind+shown, back+width
	}
	fmt.Fprint(p.screen, "\r"+prompt+before+behind+"\x1b[K")
	if back > 0 {
		fmt.Fprintf(p.screen, "\x1b[%dD", back)
	}
	p.drawn = true
}

package approval

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// LeastShown is how long a call must have been on the screen before an answer counts,
// because keys that were typed earlier were not meant for this call.
const LeastShown = 300 * time.Millisecond

// maxAnswer is how much of a line is read, in bytes. A longer line approves nothing.
const maxAnswer = 256

// Terminal is where a person is asked.
type Terminal interface {
	io.ReadWriter
	// DropInput discards everything that was typed and not read yet, including an
	// unfinished line.
	DropInput() error
}

// typed is the input of one read, with its time.
type typed struct {
	text string
	at   time.Time
}

// prompt asks at a terminal.
type prompt struct {
	queue    *Queue
	terminal Terminal
	client   identity.Client // whose terminal it is
	input    chan typed      // never dropped; has room, so that input is read when it is typed
	line     string          // typed so far
	begun    time.Time       // when that line was begun
	changes  <-chan Change
	asked    *Escalation // the question on the screen, or nil
	shown    time.Time
	approved map[string]bool // by id, what was approved here and has not ended
}

// ServePrompt asks the person at a terminal about one item after the other. Only "y" or
// "yes" approves, typed while the prompt asks about that item; "n", "no" or an empty line
// denies it, and after anything else it is asked about again. ServePrompt also prints how
// each approved call ended. The records name the client whose terminal it is, if any. It returns
// when ctx or the input ends. Reading the terminal must then end, too.
func ServePrompt(ctx context.Context, q *Queue, t Terminal, client identity.Client) error {
	p := &prompt{queue: q, terminal: t, client: client, input: make(chan typed, 64), approved: map[string]bool{}}
	go p.read(ctx)
	_, p.changes = q.Subscribe(ctx)
	for {
		if p.asked == nil {
			if err := p.askNext(); err != nil {
				return fmt.Errorf("ask for approval: %w", err)
			}
		}
		select {
		case c, more := <-p.changes:
			if !more && q.ended(ctx) {
				return nil
			}
			if !more { // it fell behind
				_, p.changes = q.Subscribe(ctx)
				p.recheck()
			}
			p.change(c)
		case in, more := <-p.input:
			if !more {
				return nil
			}
			p.take(in)
		}
	}
}

// read reads the terminal until the input or ctx ends.
func (p *prompt) read(ctx context.Context) {
	defer close(p.input)
	buffer := make([]byte, 4096)
	for {
		n, err := p.terminal.Read(buffer)
		if n > 0 {
			select {
			case p.input <- typed{string(buffer[:n]), time.Now()}:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// askNext asks about the item that has waited longest. It drops earlier input, which is
// not an answer to this item.
func (p *prompt) askNext() error {
	waiting := p.queue.Pending()
	if len(waiting) == 0 {
		return nil
	}
	i := waiting[0]
	p.asked = &i
	_, err := fmt.Fprintf(p.terminal, "\n[%d] %s/%s wants\n    %s\n%s    rule %s: %s\n    %s",
		i.Number, text.ASCII(i.Server), text.ASCII(i.Tool), text.ASCII(string(i.Arguments)), effectText(i.Effect), text.ASCII(i.Rule), text.ASCII(i.Reason), p.question())
	if err != nil {
		return err
	}
	if err := p.terminal.DropInput(); err != nil {
		return err
	}
	p.line, p.shown = "", time.Now()
	return nil
}

func (p *prompt) question() string {
	return "approve until " + p.asked.ExpiresAt.Format(time.TimeOnly) + "? [y/N] "
}

// take adds typed input, and answers with the first complete line. Input is no answer when
// no question is open, or when it comes after the line that answered.
func (p *prompt) take(in typed) {
	if p.asked == nil {
		return
	}
	if p.line == "" {
		p.begun = in.at
	}
	line, _, complete := strings.Cut(p.line+in.text, "\n")
	p.line = line[:min(len(line), maxAnswer)]
	if !complete {
		return
	}
	answer := strings.ToLower(strings.TrimSpace(p.line))
	p.line = ""
	if p.begun.Sub(p.shown) < LeastShown {
		fmt.Fprint(p.terminal, "\n    that was typed before you could read this; "+p.question())
		return
	}
	switch answer {
	case "y", "yes":
		p.answer(true)
	case "", "n", "no":
		p.answer(false)
	default:
		fmt.Fprint(p.terminal, "    y approves, n denies; "+p.question())
	}
}

// answer decides the item that is asked about.
func (p *prompt) answer(approve bool) {
	i := p.asked
	p.asked = nil
	res, won, err := p.queue.Answer(i.ID, i.Digest, Answer{Approve: approve, Effect: i.Fingerprint(), By: "prompt", Client: p.client})
	switch {
	case err != nil:
	case !won:
		fmt.Fprintf(p.terminal, "    already %s by %s\n", res.Outcome, text.ASCII(res.Client.Decider(res.By)))
	case res.Outcome == Approved:
		p.approved[i.ID] = true
	default:
		fmt.Fprintf(p.terminal, "    %s\n", res.Outcome)
	}
}

// change applies a change of the queue.
func (p *prompt) change(c Change) {
	switch {
	case c.Settled != nil && p.asked != nil && c.Settled.ID == p.asked.ID:
		fmt.Fprintf(p.terminal, "\n    %s\n", c.Settled.Outcome)
		p.asked = nil
	case c.Ended != nil && p.approved[c.Ended.ID]:
		delete(p.approved, c.Ended.ID)
		fmt.Fprintf(p.terminal, "\n    [%d] %s\n", c.Ended.Number, text.ASCII(c.Ended.Text()))
		p.asked = nil // the text may look like a question; what waits is asked about in full below it
	}
}

// recheck drops the question if its item was settled while nobody was subscribed.
func (p *prompt) recheck() {
	if p.asked == nil {
		return
	}
	if _, waits := p.queue.Find(p.asked.ID); !waits {
		p.asked = nil
	}
}

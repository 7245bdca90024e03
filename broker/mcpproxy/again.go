package mcpproxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
)

// callOf is the id of a call of a program. Each process finds the same one.
func callOf(program string, index int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", program, index))
	return hex.EncodeToString(sum[:8])
}

// past is what there is of a program whose process was killed while a call of it waited for a
// person.
type past struct {
	journal *codemode.Journal
	kept    map[int]bool    // calls that have answers, by index
	waiting map[string]bool // ids of the calls that wait again; not changed
	tools   *codemode.Toolset
}

// newJournal makes the journal of a program that begins; nil: nothing is kept of it.
func (p *Proxy) newJournal(program string) *codemode.Journal {
	if p.config.Journals == "" {
		return nil
	}
	return codemode.NewJournal(p.journalOf(program), p.secret)
}

func (p *Proxy) journalOf(program string) string {
	return filepath.Join(p.config.Journals, filepath.Base(program)+".jsonl")
}

// secret reports whether a text has a secret in it, or what stands for one.
func (p *Proxy) secret(text string) bool { return p.redact.Load().Changes(text) }

// programTools are what the program of this call can call.
func (c *call) programTools() *codemode.Toolset {
	if c.past != nil {
		return c.past.tools
	}
	return c.proxy.catalog.Load().programs
}

// resumeProgram runs a program again that was killed with another process while a call of it
// waited for a person, if it is certain that nothing happens twice.
func (c *call) resumeProgram(ctx context.Context, program, tool string) json.RawMessage {
	p := c.proxy
	c.past = p.waitingOf(program)
	if c.past == nil {
		return errorResult(p.interruptedProgram(ctx, program))
	}
	defer c.past.end(p, program)
	p.AwaitOwn(ctx) // whose tools the program may have
	if p.open(ctx, c.past, program, c.arguments) == nil {
		c.id = program
		if result := c.result(ctx, tool); c.ranAgain() {
			return result
		}
	}
	return errorResult(p.interruptedProgram(ctx, program))
}

// ranAgain reports whether the program of this call was run and did not depart from what it had
// done.
func (c *call) ranAgain() bool {
	return c.ending.outcome == audit.Answered || c.ending.outcome == audit.ToolError
}

// waitingOf returns, once, what of a program waits again; nil: nothing.
func (p *Proxy) waitingOf(program string) *past {
	p.resuming.Lock()
	defer p.resuming.Unlock()
	waiting := map[string]bool{}
	for index := 1; index <= codemode.MaxCalls; index++ {
		if id := callOf(program, index); p.config.Approvals != nil && p.config.Approvals.Resume(p.config.Session, id) {
			waiting[id] = true
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	return &past{waiting: waiting}
}

// open opens the journal of a program. An error means that it cannot be run again: something
// is not as it was, or a call has begun whose answer is not there.
func (p *Proxy) open(ctx context.Context, was *past, program string, arguments json.RawMessage) (err error) {
	var made struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal(arguments, &made); err != nil {
		return err
	}
	if was.tools = p.catalog.Load().programs; was.tools == nil || p.config.Past == nil || p.config.Journals == "" {
		return errors.New("there are no programs, or nothing is kept of them")
	}
	if was.journal, err = codemode.OpenJournal(p.journalOf(program), made.Code, was.tools, p.secret); err != nil {
		return err
	}
	was.kept = was.journal.Kept()
	indexes := map[string]int{}
	for index := 1; index <= codemode.MaxCalls; index++ {
		indexes[callOf(program, index)] = index
	}
	return p.config.Past(func(l audit.Line) error {
		index, is := indexes[l.Call]
		if is && l.Decision != audit.Noted && !was.kept[index] && !was.waiting[l.Call] {
			return fmt.Errorf("what became of call %d is not known", index)
		}
		return ctx.Err()
	})
}

// noted is the record of a program that is run again: of what it did before there are records.
func (was *past) noted(r audit.Record) audit.Record {
	r.Decision, r.Arguments = audit.Noted, nil
	r.Reason = fmt.Sprintf("the process that ran the program was killed; it is run again, and %d of its calls get the answers that they have had", len(was.kept))
	return r
}

// end forgets the program.
func (was *past) end(p *Proxy, program string) {
	was.journal.Close()
	if p.config.Journals != "" {
		_ = os.Remove(p.journalOf(program)) // where it was not opened
	}
	for id := range was.waiting {
		was.abandon(p, id)
	}
}

// abandon has nobody decide any more about a call that has ended or is not made.
func (was *past) abandon(p *Proxy, id string) {
	if was != nil && was.waiting[id] {
		p.config.Approvals.Abandon(p.config.Session, id, "the call has ended without it")
	}
}

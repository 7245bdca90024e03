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

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc/strict"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// Messages between the proxy and the bridge in a container, in addition to MCP.
const (
	// notifyWaiting tells the bridge that one of its calls waits for a person. It contains
	// the ticket by which the bridge can ask for the call again: the call's id in the
	// audit.
	notifyWaiting = "notifications/ironcurtain/waiting"
	// methodResume asks again for a call that waited in a process that was killed. The
	// call is carried out only if it was certainly never let through.
	methodResume = "ironcurtain/resume"
)

// sayWaiting gives the bridge the call's ticket.
func (c *call) sayWaiting() {
	params, err := encode(map[string]any{"requestId": c.request, "ticket": c.id})
	if err == nil {
		_ = c.agent.out.Send(jsonrpc.Notification(notifyWaiting, params))
	}
}

// decodeResume decodes the parameters of a resumed call.
func (c *call) decodeResume(raw json.RawMessage) (ticket, tool string, err error) {
	fields, err := jsonx.Split(raw)
	if err != nil {
		return "", "", err
	}
	for _, f := range fields {
		switch f.Name {
		case "ticket":
			ticket, err = strict.Text(f.Raw)
		case "call":
			tool, err = c.decode(f.Raw)
		default:
			err = errUnknownMember
		}
		if err != nil {
			return "", "", err
		}
	}
	if ticket == "" || tool == "" {
		return "", "", errors.New("a resumed call needs its ticket and the call")
	}
	return ticket, tool, nil
}

// resume continues a call that waited when another process was killed. The queue resumes a call
// only if the audit shows that it was never let through, and only once. A program is run again if a
// call of it waits. Any other resumed call ends as interrupted.
func (c *call) resume(ctx context.Context) []byte {
	p := c.proxy
	ticket, tool, err := c.decodeResume(c.params)
	if err != nil {
		return c.notACall(ctx, err)
	}
	if p.config.Approvals == nil || !p.config.Approvals.Resume(p.config.Session, ticket) {
		if where, _ := p.catalog.Load().resolve(tool); where == execute {
			return jsonrpc.Answer(c.request, c.resumeProgram(ctx, ticket, tool))
		}
		return jsonrpc.Answer(c.request, errorResult("INTERRUPTED: the connection to the host was lost during this call. "+
			"Whether it took effect is not known, and it is not repeated. Look at its effect before you do it again."))
	}
	defer p.config.Approvals.Abandon(p.config.Session, ticket, "the call has ended without it")
	c.id = ticket
	return c.carryOut(ctx, tool)
}

// asShown sets the effect of a restored call to the one that a person has seen, so that the call is
// carried out only if that is still its effect.
func (c *call) asShown(res approval.Resolution) {
	switch {
	case !res.Restored || c.proxy.config.Preview == nil:
	case res.Shown != nil:
		c.effect = res.Shown
	case c.effect != nil:
		c.effect = &preview.Effect{} // none was shown, so this one differs
	}
}

// maxRecalled bounds how often the past is read for an agent. It reads the whole audit, and
// an agent needs it once for each program that ran when a process was killed.
const maxRecalled = 16

// interruptedProgram tells an agent of a program that was killed with another process, and
// which of its calls took effect, by their records.
func (p *Proxy) interruptedProgram(ctx context.Context, program string) string {
	text := "INTERRUPTED: the host was ended while the program ran, and the program with it. It is not repeated."
	if p.config.Past == nil || p.recalled.Add(1) > maxRecalled {
		return text + " Look at its effects before you do anything of it again."
	}
	var made []codemode.Made
	places := map[string]int{} // of calls in made, by their ids
	err := p.config.Past(func(l audit.Line) error {
		if at, known := places[l.Call]; known && l.Outcome != "" {
			made[at].Fate = fates[l.Outcome]
			return ctx.Err()
		}
		if l.Detail["program"] != program || l.Outcome != "" || len(made) >= maxRemembered {
			return ctx.Err()
		}
		m := codemode.Made{Server: l.Server, Tool: l.Tool, Arguments: codemode.Excerpt(string(l.Arguments)), Fate: codemode.Refused}
		switch l.Decision {
		case audit.Allow, audit.EscalatedApproved, audit.AutoApproved, audit.Granted:
			m.Fate = codemode.CutOff
			places[l.Call] = len(made)
		default: // it was not let through
		}
		made = append(made, m)
		return ctx.Err()
	})
	if err != nil {
		return text + " Which of its calls took effect cannot be read: " + p.present(err.Error(), false)
	}
	return p.present(text+"\n\n"+codemode.Effects(made), false)
}

// maxRemembered is how many calls are listed; no program makes more.
const maxRemembered = 1000

// fates are the fates of calls by the outcomes on record. After any other outcome, the fate is
// unknown.
var fates = map[audit.Outcome]codemode.Fate{
	audit.Answered: codemode.Done, audit.ToolError: codemode.Failed, audit.Refused: codemode.Failed,
}

// callOf derives the id of a program's call. It is the same in each process.
func callOf(program string, index int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", program, index))
	return hex.EncodeToString(sum[:8])
}

// past is what is left of a program whose process was killed while a call of it waited for a
// person.
type past struct {
	journal *codemode.Journal
	kept    map[int]bool    // calls that have answers, by index
	waiting map[string]bool // ids of the calls that wait again; not changed
	tools   *codemode.Toolset
}

// newJournal makes the journal of a program that begins; nil if programs have none.
func (p *Proxy) newJournal(program string) *codemode.Journal {
	if p.config.Journals == "" {
		return nil
	}
	return codemode.NewJournal(p.journalOf(program), p.secret)
}

func (p *Proxy) journalOf(program string) string {
	return filepath.Join(p.config.Journals, filepath.Base(program)+".jsonl")
}

// secret reports whether a text contains a secret, or the mask of one.
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
	p.AwaitOwn(ctx) // the program may call their tools
	if p.open(ctx, c.past, program, c.arguments) == nil {
		c.id = program
		if result := c.result(ctx, tool); c.ranAgain() {
			return result
		}
	}
	return errorResult(p.interruptedProgram(ctx, program))
}

// ranAgain reports whether the program was run again and repeated what it had done before.
func (c *call) ranAgain() bool {
	return c.ending.outcome == audit.Answered || c.ending.outcome == audit.ToolError
}

// waitingOf returns the calls of a program that wait again, or nil if none does. It returns them
// only once.
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

// open opens the journal of a program. An error means that the program cannot be run again:
// something has changed, or a call has begun whose answer is missing.
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
	entered := entering{engine: p.engine(), by: map[string]string{}}
	err = p.config.Past(func(l audit.Line) error {
		index, is := indexes[l.Call]
		if is && l.Decision != audit.Noted && !was.kept[index] && !was.waiting[l.Call] {
			return fmt.Errorf("what became of call %d is not known", index)
		}
		entered.take(l)
		return ctx.Err()
	})
	if err == nil && entered.dir != "" {
		p.workDir.CompareAndSwap(nil, &entered.dir) // another call may have entered one since the kill
	}
	return err
}

// entering finds in the records which working directory the git server had. A restarted server has
// none, but the host adds the one that it knows to calls that name none.
type entering struct {
	engine Judge
	by     map[string]string // the directory that a call enters, by the call's id, until the call has ended
	dir    string
}

// take takes the next record.
func (e *entering) take(l audit.Line) {
	argument := e.engine.Behavior(l.Server, l.Tool).Enters
	switch dir, entered := e.by[l.Call]; {
	case entered && l.Outcome != "":
		delete(e.by, l.Call)
		if l.Outcome == audit.Answered {
			e.dir = dir
		}
	case l.Outcome == "" && argument != "":
		var arguments map[string]any
		if json.Unmarshal(l.Arguments, &arguments) != nil {
			return
		}
		if dir, is := arguments[argument].(string); is {
			e.by[l.Call] = dir
		}
	}
}

// noted returns the record of a program that is run again. Its earlier calls have records of their
// own.
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

// abandon removes a call that has ended, or is not made, from those that wait for a person.
func (was *past) abandon(p *Proxy, id string) {
	if was != nil && was.waiting[id] {
		p.config.Approvals.Abandon(p.config.Session, id, "the call has ended without it")
	}
}

package mcpproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// execute is the tool that runs programs.
var execute = target{policy.ProxyServer, policy.Execute}

// offerPrograms adds the tool that runs programs, which can call all tools that the catalog
// has by then. It returns what the agent is offered.
func (p *Proxy) offerPrograms(c *catalog) []offeredTool {
	if p.config.Programs == nil {
		return c.offered
	}
	var tools []codemode.Tool
	for _, t := range c.offered {
		at := c.byName[t.Name]
		tools = append(tools, codemode.Tool{Server: at.server, Name: at.tool, Description: t.Description, Input: t.InputSchema, Output: t.output})
	}
	c.programs = codemode.NewToolset(tools)
	name := exposedName(execute.server, execute.tool)
	c.byName[name] = execute
	own := offeredTool{Name: name, Title: "Run a program", Description: c.programs.Description(), InputSchema: json.RawMessage(codemode.Schema)}
	if p.config.OnlyPrograms {
		return []offeredTool{own}
	}
	return append([]offeredTool{own}, c.offered...)
}

// callable reports whether a tool can be called the way this call is made: programs start no
// programs, and agents that are only offered programs make no other calls.
func (c *call) callable() bool {
	if c.program != nil {
		return c.target != execute
	}
	return c.target == execute || c.proxy.config.Programs == nil || !c.proxy.config.OnlyPrograms
}

// refusal is how a call was refused.
type refusal struct {
	decision audit.Decision // empty: it was not
	rule     string
}

// running is a program that runs.
type running struct {
	call    *call  // by which it was started
	asked   func() // wakes the goroutine of report; nil: there is none
	journal *codemode.Journal

	mu      sync.Mutex
	calls   int
	waiting int      // for a person
	notes   []string // of its calls, for the agent
}

// runProgram records that a program begins, carries it out, and returns what the agent is
// told. The program cannot do anything before the record is durable.
func (c *call) runProgram(ctx context.Context) json.RawMessage {
	if why := context.Cause(ctx); why != nil {
		return c.withdrawn(ctx, why)
	}
	record, journal := c.record, c.proxy.newJournal(c.id)
	if c.past != nil {
		record, journal = c.past.noted(record), c.past.journal
	}
	defer journal.Close()
	if err := c.append(ctx, record); err != nil {
		return c.unrecorded(err)
	}
	c.ending.began = time.Now()
	var arguments struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal(c.verdict.Arguments, &arguments); err != nil {
		return c.failed(err)
	}
	if c.proxy.config.Tickets { // the next process finds by it which calls took effect
		c.sayWaiting()
	}
	r := &running{call: c, journal: journal}
	defer r.report(ctx)()
	defer func() { c.notes = r.noted() }()
	out, err := c.proxy.config.Programs.Run(ctx, codemode.Program{
		Code: arguments.Code, Tools: c.programTools(), Do: r.do, Journal: journal, Replayed: r.replayed,
	})
	if err == nil && out.Diverged {
		err = errors.New(out.Error)
	}
	if err != nil {
		return c.failed(err)
	}
	c.ending.detail = map[string]any{
		"calls": len(out.Calls), "refused": out.Count(codemode.Refused), "failed": out.Count(codemode.Failed), "cutOff": out.Count(codemode.CutOff),
	}
	if !out.OK {
		c.ending.detail["error"] = strings.ToValidUTF8(out.Error[:min(len(out.Error), maxEvidence)], "\uFFFD")
	}
	result, err := encode(toolResult{Content: []json.RawMessage{textBlock(c.proxy.present(out.Text(), false))}, IsError: !out.OK})
	if err != nil {
		return c.failed(err)
	}
	c.answered(result, !out.OK)
	return result
}

// do carries out a call of the program, like any other call of the agent.
func (r *running) do(ctx context.Context, made codemode.Call, waits func(bool)) codemode.Answer {
	outer := r.call
	inner := &call{
		proxy: outer.proxy, agent: outer.agent, hold: hold{of: outer.proxy.room.requests}, id: callOf(outer.id, made.Index),
		arguments: made.Arguments, program: r, made: made,
	}
	inner.made.Arguments = nil // they are in inner.arguments for as long as they are needed
	told := r.teller(made)
	inner.waits = func(begins bool) {
		waits(begins)
		r.count(0, map[bool]int{true: 1, false: -1}[begins])
		told(map[bool]codemode.Fate{true: callWaits, false: callRuns}[begins])
	}
	r.count(1, 0)
	told(callRuns)
	defer outer.proxy.calm.beginInside()()
	result := inner.result(ctx, exposedName(made.Server, made.Tool))
	answer := inner.answerFor(result)
	inner.finish()
	outer.past.abandon(outer.proxy, inner.id)
	told(answer.Fate())
	return answer
}

// replayed reports a call that was answered by a former process.
func (r *running) replayed(made codemode.Call, a codemode.Answer) {
	r.count(1, 0)
	r.teller(made)(a.Fate())
}

// notifyCall reports the state of a program's call to a client that has declared the experimental
// capability showsPrograms.
const (
	notifyCall    = "notifications/ironcurtain/call"
	showsPrograms = "ironcurtain/programs"
)

// The states of a call that has not ended.
const (
	callRuns  codemode.Fate = "runs"
	callWaits codemode.Fate = "waits"
)

// teller returns a function that tells the client the state of a call, if the client shows
// programs.
func (r *running) teller(made codemode.Call) func(codemode.Fate) {
	c := r.call
	if !c.agent.showsPrograms() {
		return func(codemode.Fate) {}
	}
	began := time.Now()
	about := codemode.Excerpt(summary(made.Arguments))
	return func(fate codemode.Fate) {
		params, err := encode(map[string]any{
			"requestId": c.request, "index": made.Index, "tool": made.Server + "/" + made.Tool, "about": about,
			"state": fate, "tookMs": time.Since(began).Milliseconds(),
		})
		if err == nil {
			_ = c.agent.out.Send(jsonrpc.Notification(notifyCall, params))
		}
	}
}

// answerFor returns the result of a call as the program gets it.
func (c *call) answerFor(result json.RawMessage) codemode.Answer {
	value, failed := valueOf(result)
	switch {
	case c.refusal.decision != "":
		return codemode.Answer{Text: value, Decision: string(c.refusal.decision), Rule: c.refusal.rule, Refused: true}
	case c.ending.outcome == audit.Cancelled:
		return codemode.CutOffAnswer(value)
	case failed:
		return codemode.Answer{Text: value, Decision: string(c.record.Decision), Rule: c.record.Rule}
	}
	return codemode.Answer{OK: true, Text: value}
}

// valueOf returns the value of a result as JSON: its structured content, else its text, else a list
// of its blocks, in which those that are not text are only described. For a failed call it returns
// the plain text.
func valueOf(result json.RawMessage) (value string, failed bool) {
	var r toolResult
	if err := json.Unmarshal(result, &r); err != nil {
		return errUnreadable.Error(), true
	}
	if len(r.Structured) > 0 && string(r.Structured) != "null" && !r.IsError {
		return string(r.Structured), false
	}
	var texts []string
	var blocks []any
	for _, raw := range r.Content {
		if text, ok := textOf(raw); ok {
			texts, blocks = append(texts, text), append(blocks, text)
			continue
		}
		blocks = append(blocks, describeBlock(raw))
	}
	joined := strings.Join(texts, "\n")
	if r.IsError {
		return joined, true
	}
	var v any = joined
	if len(blocks) > len(texts) {
		v = blocks
	}
	text, err := encode(v)
	if err != nil {
		return err.Error(), true
	}
	return string(text), false
}

// describeBlock describes a block that is no text.
func describeBlock(raw json.RawMessage) map[string]any {
	var b struct {
		Type     string `json:"type"`
		MimeType string `json:"mimeType"`
		URI      string `json:"uri"`
	}
	if json.Unmarshal(raw, &b) != nil {
		b.Type = "unknown"
	}
	d := map[string]any{"type": b.Type, "mimeType": b.MimeType, "bytes": len(raw)}
	if b.URI != "" {
		d["uri"] = b.URI
	}
	return d
}

// ofProgram adds to the record of a program's call the id of the program, the number of the call
// and its line.
func (c *call) ofProgram(r audit.Record) audit.Record {
	if c.program == nil {
		return r
	}
	r.Detail = maps.Clone(r.Detail)
	if r.Detail == nil {
		r.Detail = map[string]any{}
	}
	r.Detail["program"], r.Detail["index"] = c.program.call.id, c.made.Index
	if c.made.Line > 0 {
		r.Detail["line"] = c.made.Line
	}
	return r
}

// waitsForPerson reports that the call begins to wait for a person. It returns what reports the end
// of the wait.
func (c *call) waitsForPerson() func() {
	if c.waits == nil {
		return func() {}
	}
	c.waits(true)
	return func() { c.waits(false) }
}

// count counts calls that the program has made, and those that begin or end to wait.
func (r *running) count(calls, waiting int) {
	r.mu.Lock()
	r.calls += calls
	r.waiting += waiting
	r.mu.Unlock()
	if waiting > 0 && r.asked != nil {
		r.asked()
	}
}

// report sends progress to an agent that wants it, every few seconds and when a call begins to
// wait, until stop is called.
func (r *running) report(ctx context.Context) (stop func()) {
	c := r.call
	if c.progressToken == nil {
		return func() {}
	}
	woken, quit, done := make(chan struct{}, 1), make(chan struct{}), make(chan struct{}) // one pending report is enough
	r.asked = func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
	go func() {
		defer close(done)
		began, tick := time.Now(), time.NewTicker(c.proxy.limits.Progress)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-woken:
			case <-quit:
				return
			case <-ctx.Done():
				return
			}
			r.mu.Lock()
			text := fmt.Sprintf("the program runs: %d calls", r.calls)
			if r.waiting > 0 {
				text += fmt.Sprintf(", %d of them waiting for a person's decision", r.waiting)
			}
			r.mu.Unlock()
			c.agent.progress(c.progressToken, math.Round(time.Since(began).Seconds()*1000)/1000, 0, text)
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// summary shortens arguments to one line: strings as they are, other values with their names.
func summary(arguments json.RawMessage) string {
	v, err := jsonx.Parse(arguments, jsonx.Limits{Depth: 64, Bytes: 256 << 10})
	if err != nil {
		return string(arguments)
	}
	var words []string
	for _, m := range v.Members {
		if m.Value.Kind == jsonx.String {
			words = append(words, m.Value.Text)
		} else {
			words = append(words, m.Name+"="+string(m.Value.Encode()))
		}
	}
	return strings.Join(words, " ")
}

// errNotInPrograms tells an agent that its calls are made by programs.
var errNotInPrograms = errors.New("call it in a program of " + exposedName(execute.server, execute.tool))

package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc/strict"
)

// maxLine is the longest message from the proxy, in bytes. The result of a program is far shorter.
const maxLine = 1 << 20

// ErrGone means that the connection to the policy proxy has ended. It does not come back, so this
// process must end, too. The next process asks for the result of a program that was running.
var ErrGone = errors.New("the connection to the host has ended")

// Programs is a connection to the policy proxy, which runs programs. It speaks MCP, with additional
// notifications of the proxy about the states of a program's calls.
type Programs struct {
	out  *jsonrpc.Writer
	lost chan struct{} // closed when the connection has ended

	mu      sync.Mutex
	next    int
	waiting map[string]*request
}

// request is a request without an answer so far.
type request struct {
	answer chan jsonrpc.Message // buffered, so that sending the answer never blocks
	ticket func(string)
	call   func(Call)
}

// NewPrograms starts to read from the proxy at the other end of conn. Close conn to end that.
func NewPrograms(conn io.ReadWriter) *Programs {
	p := &Programs{out: jsonrpc.NewWriter(conn, nil, nil), lost: make(chan struct{}), waiting: map[string]*request{}}
	go p.read(conn)
	return p
}

// Lost returns a channel that is closed when the connection has ended.
func (p *Programs) Lost() <-chan struct{} { return p.lost }

// read handles the proxy's messages until the connection ends.
func (p *Programs) read(conn io.Reader) {
	defer close(p.lost)
	lines := jsonrpc.NewReader(conn, maxLine)
	for {
		line, err := lines.Next(nil)
		if err != nil {
			return
		}
		m, err := strict.Open(line)
		if err != nil {
			continue // ignore what is not a message
		}
		if m.Method != "" {
			p.notified(m)
			continue
		}
		p.mu.Lock()
		r := p.waiting[string(m.ID)]
		delete(p.waiting, string(m.ID))
		p.mu.Unlock()
		if r != nil {
			r.answer <- m
		}
	}
}

// notified handles a notification about a running program.
func (p *Programs) notified(m jsonrpc.Message) {
	var n struct {
		RequestID json.RawMessage `json:"requestId"`
		Ticket    string          `json:"ticket"`
		Index     int             `json:"index"`
		Tool      string          `json:"tool"`
		About     string          `json:"about"`
		State     CallState       `json:"state"`
		TookMs    int64           `json:"tookMs"`
	}
	if json.Unmarshal(m.Params, &n) != nil {
		return
	}
	p.mu.Lock()
	r := p.waiting[string(n.RequestID)]
	p.mu.Unlock()
	switch {
	case r == nil:
	case m.Method == "notifications/ironcurtain/waiting" && r.ticket != nil:
		r.ticket(n.Ticket)
	case m.Method == "notifications/ironcurtain/call" && r.call != nil:
		if n.State == "" {
			n.State = CallCut
		}
		r.call(Call{Index: n.Index, Tool: n.Tool, About: n.About, State: n.State, Took: time.Duration(n.TookMs) * time.Millisecond, Ended: time.Now()})
	}
}

// ask sends a request and waits for its answer. When ctx ends, ask cancels the request.
func (p *Programs) ask(ctx context.Context, method string, params any, r request) (json.RawMessage, error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	r.answer = make(chan jsonrpc.Message, 1)
	p.mu.Lock()
	p.next++
	id := strconv.Itoa(p.next)
	p.waiting[id] = &r
	p.mu.Unlock()
	if err := p.out.Send(jsonrpc.Request(json.RawMessage(id), method, raw)); err != nil {
		return nil, ErrGone
	}
	select {
	case m := <-r.answer:
		if m.Error != nil {
			return nil, fmt.Errorf("%s was refused: %s", method, m.Error)
		}
		return m.Result, nil
	case <-p.lost:
		return nil, ErrGone
	case <-ctx.Done():
		p.mu.Lock()
		delete(p.waiting, id)
		p.mu.Unlock()
		_ = p.out.Send(jsonrpc.Notification("notifications/cancelled", json.RawMessage(`{"requestId":`+id+`}`)))
		return nil, context.Cause(ctx)
	}
}

// Tool is the tool that runs programs.
type Tool struct {
	name        string
	Description string // what programs can do, with the tools that they can call
	Notes       string // about this session: what it may do, and limits
}

// Find waits until the tools are ready and returns the one that runs programs.
func (p *Programs) Find(ctx context.Context) (Tool, error) {
	hello := map[string]any{
		"protocolVersion": "2025-11-25",
		"capabilities":    map[string]any{"experimental": map[string]any{"ironcurtain/programs": map[string]any{}}},
		"clientInfo":      map[string]string{"name": "ironcurtain-builtin", "version": "1"},
	}
	raw, err := p.ask(ctx, "initialize", hello, request{})
	if err != nil {
		return Tool{}, err
	}
	var host struct {
		Instructions string `json:"instructions"`
	}
	if err := json.Unmarshal(raw, &host); err != nil {
		return Tool{}, fmt.Errorf("the host's answer cannot be read: %w", err)
	}
	if err := p.out.Send(jsonrpc.Notification("notifications/initialized", nil)); err != nil {
		return Tool{}, ErrGone
	}
	if raw, err = p.ask(ctx, "tools/list", struct{}{}, request{}); err != nil {
		return Tool{}, err
	}
	var offered struct {
		Tools []struct{ Name, Description string } `json:"tools"`
	}
	if err := json.Unmarshal(raw, &offered); err != nil || len(offered.Tools) != 1 {
		return Tool{}, errors.New("the host offers no programs")
	}
	return Tool{name: offered.Tools[0].Name, Description: offered.Tools[0].Description, Notes: host.Instructions}, nil
}

// Result is the result of a program.
type Result struct {
	Text   string // for the model
	Failed bool
}

// Run runs a program to its end. It calls ticket with a name by which another process can Resume the
// program, and call with each new state of the program's calls, one after the other.
func (p *Programs) Run(ctx context.Context, t Tool, code string, ticket func(string), call func(Call)) (Result, error) {
	params := map[string]any{"name": t.name, "arguments": map[string]string{"code": code}}
	return result(p.ask(ctx, "tools/call", params, request{ticket: ticket, call: call}))
}

// Resume asks for the result of a program that ran when an earlier process ended. The program
// continues if it was waiting.
func (p *Programs) Resume(ctx context.Context, t Tool, ticket, code string, call func(Call)) (Result, error) {
	params := map[string]any{"ticket": ticket, "call": map[string]any{"name": t.name, "arguments": map[string]string{"code": code}}}
	return result(p.ask(ctx, "ironcurtain/resume", params, request{call: call}))
}

// result reads the result of a call.
func result(raw json.RawMessage, err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	var r struct {
		Content []struct{ Text string } `json:"content"`
		IsError bool                    `json:"isError"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return Result{}, fmt.Errorf("the host's answer cannot be read: %w", err)
	}
	var texts []string
	for _, c := range r.Content {
		texts = append(texts, c.Text)
	}
	return Result{Text: strings.Join(texts, "\n"), Failed: r.IsError}, nil
}

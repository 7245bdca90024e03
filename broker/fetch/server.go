package fetch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc/strict"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// WebMethod is the request by which the server asks its client to make the web request of a call:
// {"call": id}. The client offers it as an experimental capability of the same name.
const WebMethod = "ironcurtain/web"

// maxLine bounds a message of the client, in bytes. The largest page fits.
const maxLine = 10 << 20

// maxCalls is how many calls run at a time.
const maxCalls = 64

// Page is the response to a web request, from the client.
type Page struct {
	URL       string            `json:"url"`
	Status    int               `json:"status"`
	Headers   map[string]string `json:"headers,omitempty"` // in lower case
	Body      []byte            `json:"body,omitempty"`
	Truncated bool              `json:"truncated,omitempty"`
	Redirects int               `json:"redirects,omitempty"`
}

// server is one run of the server: one client on one pair of streams.
type server struct {
	mu      sync.Mutex
	out     *jsonrpc.Writer
	offered bool // the client makes web requests
	asked   uint64
	waiting map[string]chan reply // each has room for its only reply
	calls   map[string]context.CancelFunc
	group   sync.WaitGroup
}

type reply struct {
	page Page
	err  error
}

// Serve answers a client until its stream ends. Then it cancels the running calls and waits for them.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	s := &server{out: jsonrpc.NewWriter(out, nil, nil), waiting: map[string]chan reply{}, calls: map[string]context.CancelFunc{}}
	ctx, cancel := context.WithCancel(ctx)
	defer s.group.Wait()
	defer cancel()
	lines := jsonrpc.NewReader(in, maxLine)
	for {
		line, err := lines.Next(nil)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("fetch server: read: %w", err)
		}
		if err := s.handle(ctx, line); err != nil {
			return fmt.Errorf("fetch server: %w", err)
		}
	}
}

func (s *server) fail(id json.RawMessage, code int, text string) error {
	return s.out.Send(jsonrpc.AnswerError(id, &jsonrpc.Error{Code: code, Text: text}))
}

func (s *server) answer(id, result json.RawMessage) error {
	return s.out.Send(jsonrpc.Answer(id, result))
}

// handle handles one message. An error ends the server.
func (s *server) handle(ctx context.Context, line []byte) error {
	if !jsonx.Valid(line) {
		return s.fail(nil, jsonrpc.ParseError, "the message is not JSON")
	}
	m, err := strict.Open(line)
	switch {
	case err != nil:
		return s.out.Send(jsonrpc.AnswerError(nil, err))
	case m.Method == "":
		s.deliver(m)
	case m.Method == "notifications/cancelled":
		s.cancelled(m.Params)
	case m.ID == nil:
	case m.Method == "initialize":
		return s.initialize(m)
	case m.Method == "ping":
		return s.answer(m.ID, json.RawMessage("{}"))
	case m.Method == "tools/list":
		return s.answer(m.ID, toolList)
	case m.Method == "tools/call":
		return s.start(ctx, m)
	default:
		return s.fail(m.ID, jsonrpc.MethodNotFound, "there is no such method")
	}
	return nil
}

func (s *server) initialize(m jsonrpc.Message) error {
	var p struct {
		ProtocolVersion string `json:"protocolVersion"`
		Capabilities    struct {
			Experimental map[string]json.RawMessage `json:"experimental"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return s.fail(m.ID, jsonrpc.InvalidParams, "initialize: invalid parameters")
	}
	_, offered := p.Capabilities.Experimental[WebMethod]
	s.mu.Lock()
	s.offered = offered
	s.mu.Unlock()
	result, err := json.Marshal(map[string]any{
		"protocolVersion": p.ProtocolVersion,
		"capabilities":    map[string]any{"tools": struct{}{}},
		"serverInfo":      map[string]string{"name": "ironcurtain-fetch", "version": "1"},
	})
	if err != nil {
		return err
	}
	return s.answer(m.ID, result)
}

// start starts a call.
func (s *server) start(ctx context.Context, m jsonrpc.Message) error {
	ctx, cancel := context.WithCancel(ctx)
	id := string(m.ID)
	s.mu.Lock()
	_, used := s.calls[id]
	full := len(s.calls) >= maxCalls
	if !used && !full {
		s.calls[id] = cancel
	}
	s.mu.Unlock()
	if used || full {
		cancel()
		return s.fail(m.ID, jsonrpc.InvalidRequest, "the id is in use, or too many calls are running")
	}
	s.group.Go(func() {
		text, err := s.call(ctx, m)
		result := toolResult(text, err)
		s.mu.Lock()
		delete(s.calls, id)
		s.mu.Unlock()
		cancel()
		_ = s.answer(m.ID, result) // a client that is gone needs no answer
	})
	return nil
}

func (s *server) cancelled(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	s.mu.Lock()
	cancel := s.calls[string(p.RequestID)]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// page asks the client to make the web request of a call, and waits for the page.
func (s *server) page(ctx context.Context, call json.RawMessage) (Page, error) {
	got := make(chan reply, 1)
	s.mu.Lock()
	if !s.offered {
		s.mu.Unlock()
		return Page{}, errors.New(`the client makes no web requests for this server: run it behind ironcurtain-mux with "network": {"judged": true}`)
	}
	s.asked++
	id := `"web-` + strconv.FormatUint(s.asked, 10) + `"`
	s.waiting[id] = got
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
	}()
	params, err := json.Marshal(map[string]json.RawMessage{"call": call})
	if err == nil {
		err = s.out.Send(jsonrpc.Request(json.RawMessage(id), WebMethod, params))
	}
	if err != nil {
		return Page{}, err
	}
	select {
	case r := <-got:
		return r.page, r.err
	case <-ctx.Done():
		return Page{}, ctx.Err()
	}
}

// deliver delivers an answer of the client to the call that waits for it.
func (s *server) deliver(m jsonrpc.Message) {
	s.mu.Lock()
	got := s.waiting[string(m.ID)]
	delete(s.waiting, string(m.ID))
	s.mu.Unlock()
	if got == nil {
		return
	}
	var r reply
	var failed struct{ Message string }
	if m.Error != nil && json.Unmarshal(m.Error, &failed) == nil {
		r.err = errors.New(failed.Message)
	} else if err := json.Unmarshal(m.Result, &r.page); err != nil {
		r.err = errors.New("the client's answer is malformed")
	}
	got <- r
}

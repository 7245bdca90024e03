package fetch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// WebMethod is the request by which the server asks its client for the web
// request of a call: {"call": id}. The client offers it as an experimental
// capability of the same name.
const WebMethod = "ironcurtain/web"

// maxLine bounds a message of the client; it holds the largest page.
const maxLine = 10 << 20

// maxCalls is how many calls are worked on at a time.
const maxCalls = 64

// Page is the client's answer: what the web said.
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
	out     io.Writer
	offered bool // the client makes web requests
	asked   uint64
	waiting map[string]chan reply // room for the one reply
	calls   map[string]context.CancelFunc
	group   sync.WaitGroup
}

type reply struct {
	page Page
	err  error
}

// frame is one message, either way.
type frame struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Serve answers a client until its stream ends. It returns when all calls have
// been answered or, once the stream has ended, given up.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	s := &server{out: out, waiting: map[string]chan reply{}, calls: map[string]context.CancelFunc{}}
	ctx, cancel := context.WithCancel(ctx)
	defer s.group.Wait()
	defer cancel()
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		if err := s.handle(ctx, lines.Bytes()); err != nil {
			return fmt.Errorf("fetch server: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("fetch server: read: %w", err)
	}
	return nil
}

func (s *server) send(f frame) error {
	f.JSONRPC = "2.0"
	line, err := json.Marshal(f)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.out.Write(append(line, '\n'))
	return err
}

func (s *server) fail(id json.RawMessage, code int, text string) error {
	return s.send(frame{ID: id, Error: &rpcError{code, text}})
}

// handle takes one message. An error ends the server.
func (s *server) handle(ctx context.Context, line []byte) error {
	if _, err := jsonx.Split(line); err != nil {
		return s.fail(json.RawMessage("null"), -32700, "the message is not JSON that has one meaning")
	}
	var f frame
	if err := json.Unmarshal(line, &f); err != nil {
		return s.fail(json.RawMessage("null"), -32600, "the message is not JSON-RPC")
	}
	switch {
	case f.Method == "":
		s.deliver(f)
	case f.Method == "notifications/cancelled":
		s.cancelled(f.Params)
	case f.ID == nil:
	case f.Method == "initialize":
		return s.initialize(f)
	case f.Method == "ping":
		return s.send(frame{ID: f.ID, Result: json.RawMessage("{}")})
	case f.Method == "tools/list":
		return s.send(frame{ID: f.ID, Result: toolList})
	case f.Method == "tools/call":
		return s.begin(ctx, f)
	default:
		return s.fail(f.ID, -32601, "there is no such method")
	}
	return nil
}

func (s *server) initialize(f frame) error {
	var p struct {
		ProtocolVersion string `json:"protocolVersion"`
		Capabilities    struct {
			Experimental map[string]json.RawMessage `json:"experimental"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(f.Params, &p); err != nil {
		return s.fail(f.ID, -32602, "initialize: the parameters cannot be understood")
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
	return s.send(frame{ID: f.ID, Result: result})
}

// begin starts to work on a call.
func (s *server) begin(ctx context.Context, f frame) error {
	ctx, cancel := context.WithCancel(ctx)
	id := string(f.ID)
	s.mu.Lock()
	_, used := s.calls[id]
	full := len(s.calls) >= maxCalls
	if !used && !full {
		s.calls[id] = cancel
	}
	s.mu.Unlock()
	if used || full {
		cancel()
		return s.fail(f.ID, -32600, "the id is in use, or too many calls are")
	}
	s.group.Go(func() {
		text, err := s.call(ctx, f)
		result := toolResult(text, err)
		s.mu.Lock()
		delete(s.calls, id)
		s.mu.Unlock()
		cancel()
		_ = s.send(frame{ID: f.ID, Result: result}) // a client that is gone needs no answer
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

// page asks the client for the web request of a call and waits for it.
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
		err = s.send(frame{ID: json.RawMessage(id), Method: WebMethod, Params: params})
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

// deliver hands an answer of the client to the call that waits for it.
func (s *server) deliver(f frame) {
	s.mu.Lock()
	got := s.waiting[string(f.ID)]
	delete(s.waiting, string(f.ID))
	s.mu.Unlock()
	if got == nil {
		return
	}
	var r reply
	if f.Error != nil {
		r.err = errors.New(f.Error.Message)
	} else if err := json.Unmarshal(f.Result, &r.page); err != nil {
		r.err = errors.New("the client's answer cannot be understood")
	}
	got <- r
}

package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Bounds of an answer that arrives in pieces.
const (
	maxStream = 4 << 20         // bytes of all of it
	maxLine   = 1 << 20         // bytes of one event's line
	maxFault  = 64 << 10        // bytes that are read of an answer that is an error
	maxSaid   = 300             // bytes of its message that are kept
	maxIdle   = 5 * time.Minute // between two pieces
	maxAfter  = 24 * time.Hour  // the longest wait that a provider can ask for
	maxLinger = time.Second     // for what follows the last event
)

// NewChat makes a conversation with a model. Nothing is sent before the first request. No request
// opens a file, starts anything or looks at the environment, unless o.HTTP does. Without a key the
// error is llm.ErrNoKey.
func NewChat(o Options) (llm.Chat, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	client := newHTTP(o.HTTP, func(next http.RoundTripper) http.RoundTripper { return &streamed{next} })
	c := &chat{connection: connection{client}, name: o.Provider + "/" + o.Model}
	var err error
	switch o.Format {
	case "anthropic":
		c.ask = anthropicChat(o, client)
	case "openai":
		c.ask = openaiChat(o, client)
	default:
		c.ask, err = googleChat(o, client)
	}
	return c, err
}

// asker sends one request in a provider's format. It returns only complete replies: llm.ErrBroken
// means that the end of one never came.
type asker func(ctx context.Context, r llm.Request, said func(string)) (llm.Reply, error)

type chat struct {
	connection
	name string
	ask  asker
}

func (c *chat) Name() string { return c.name }

func (c *chat) Reply(ctx context.Context, r llm.Request, said func(string)) (llm.Reply, error) {
	a := &answer{}
	within, cancel := context.WithCancel(context.WithValue(ctx, answerKey{}, a))
	defer cancel()
	a.idle = time.AfterFunc(maxIdle, cancel)
	defer a.idle.Stop()
	reply, err := c.ask(within, r, said)
	switch {
	case err == nil && a.err == nil:
		return reply, nil
	case ctx.Err() != nil:
		return llm.Reply{}, ctx.Err()
	case a.err != nil:
		return llm.Reply{}, a.err
	case within.Err() != nil && !a.closed:
		return llm.Reply{}, llm.ErrBroken
	}
	var status *llm.StatusError
	if !errors.As(err, &status) && a.ended && a.line > 0 {
		return llm.Reply{}, llm.ErrBroken // the last event is incomplete
	}
	if errors.Is(err, llm.ErrRefused) || errors.Is(err, llm.ErrBroken) {
		return llm.Reply{}, err
	}
	return llm.Reply{}, tidy(err)
}

// finish makes a whole reply of what was received.
func finish(reply llm.Reply, cut bool) (llm.Reply, error) {
	if cut {
		reply.Calls, reply.Cut = nil, true
	}
	for i, call := range reply.Calls {
		if len(call.Arguments) == 0 { // some write a call without arguments like this
			call.Arguments = json.RawMessage("{}")
			reply.Calls[i] = call
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(call.Arguments, &object) != nil || object == nil || call.ID == "" || call.Name == "" {
			return llm.Reply{}, llm.ErrFormat
		}
	}
	return reply, nil
}

// answerKey is the key of the answer to a request in the request's context.
type answerKey struct{}

// streamed is a transport for answers that arrive in pieces. Any other answer is an error.
type streamed struct{ next http.RoundTripper }

func (s *streamed) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	a, ok := r.Context().Value(answerKey{}).(*answer)
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if !ok || resp.StatusCode != http.StatusOK || strings.TrimSpace(kind) != "text/event-stream" {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxFault)) // the part that arrived is enough
		_ = resp.Body.Close()
		return nil, fault(resp.StatusCode, body, resp.Header)
	}
	a.body, resp.Body = resp.Body, a
	return resp, nil
}

func (s *streamed) CloseIdleConnections() { closeIdle(s.next) }

// answer is the body of an answer. If it is too long or breaks off, its reader only gets io.EOF,
// and err has the cause. The libraries would log another error, and logging opens the file of the
// time zone, where no file may be opened.
type answer struct {
	body   io.ReadCloser
	idle   *time.Timer // cancels the request
	size   int
	line   int   // bytes since the last line's end
	ended  bool  // its end was read
	err    error // why its end was not read
	closed bool  // its reader has closed it
}

func (a *answer) Read(p []byte) (int, error) {
	if a.err != nil {
		return 0, io.EOF
	}
	n, err := a.body.Read(p)
	a.idle.Reset(maxIdle)
	a.size, a.line = a.size+n, a.line+n
	if i := bytes.LastIndexByte(p[:n], '\n'); i >= 0 {
		a.line = n - 1 - i
	}
	switch {
	case a.size > maxStream || a.line > maxLine:
		a.err = llm.ErrTooLarge
	case errors.Is(err, io.EOF):
		a.ended = true
	case err != nil:
		a.err = llm.ErrBroken
	default:
		return n, nil
	}
	return n, io.EOF
}

// Close reads the few bytes behind the last event, so that the connection can be used again.
func (a *answer) Close() error {
	a.closed = true
	if a.err == nil && !a.ended {
		a.idle.Reset(maxLinger)
		_, _ = io.CopyN(io.Discard, a.body, 1<<10) // if this fails, the next request makes a new connection
	}
	_ = a.body.Close() // what it would say is of no use
	return nil
}

// codes are the statuses of errors that come in the middle of an answer, by the errors' names.
var codes = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "permission_error": 403, "not_found_error": 404,
	"request_too_large": 413, "rate_limit_error": 429, "rate_limit_exceeded": 429, "insufficient_quota": 429, "overloaded_error": 529,
}

// fault returns the error that a provider has answered: with a status, or in the middle of an
// answer with the status 200, which has no headers left.
func fault(code int, body []byte, header http.Header) error {
	var is struct {
		Error json.RawMessage `json:"error"`
	}
	var detail struct {
		Code    any    `json:"code"`
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(body, &is) // a body that is not JSON is a text
	if json.Unmarshal(is.Error, &detail) != nil {
		_ = json.Unmarshal(is.Error, &detail.Message) // some write a string
	}
	if code == http.StatusOK {
		if len(is.Error) == 0 {
			return llm.ErrFormat
		}
		code = http.StatusInternalServerError
		named := fmt.Sprint(detail.Code)
		if n, err := strconv.Atoi(named); err == nil && n >= 400 && n < 600 {
			code = n
		} else if n := max(codes[detail.Type], codes[named]); n != 0 {
			code = n
		}
	}
	if detail.Message == "" {
		detail.Message = string(body)
	}
	return &llm.StatusError{Code: code, Said: text.FirstLine(detail.Message, maxSaid), After: after(header), Final: header.Get("X-Should-Retry") == "false"}
}

// after returns how long a provider asks to wait, or 0.
func after(header http.Header) time.Duration {
	wait := time.Duration(0)
	value, unit := header.Get("Retry-After-Ms"), time.Millisecond
	if value == "" {
		value, unit = header.Get("Retry-After"), time.Second
	}
	if n, err := strconv.ParseFloat(value, 64); err == nil && n > 0 {
		wait = time.Duration(min(n, float64(maxAfter/unit)) * float64(unit))
	} else if at, err := time.Parse(http.TimeFormat, value); err == nil { // other formats need the file of the time zone
		wait = time.Until(at)
	}
	return max(0, min(wait, maxAfter))
}

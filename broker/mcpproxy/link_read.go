package mcpproxy

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/fetch"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc/strict"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/pressure"
)

// serverRequest is a request of a server to us.
type serverRequest struct {
	id     json.RawMessage
	method string
}

// unreadable is the error in place of an answer that cannot be understood.
var unreadable = json.RawMessage(`{"message":"the server's answer cannot be understood"}`)

// maxRubbish is how many lines in a row a server may print that are no messages.
const maxRubbish = 10_000

// read handles the server's messages until the server ends.
func (l *link) read() {
	defer close(l.heard)
	defer close(l.requests)
	frames := jsonrpc.NewReader(l.peer.Stdout(), l.limit)
	frames.StopAtTooLong()
	rubbish := 0
	for {
		line, err := frames.Next(nil)
		if errors.Is(err, jsonrpc.ErrTooLong) {
			// Nobody knows which call it answered, so no caller can get an error.
			err = errors.New("the server sent a message that is too long")
			go l.peer.Stop()
		}
		if err != nil {
			l.end(err)
			return
		}
		switch e, err := strict.Open(line); {
		case err == nil:
			rubbish = 0
			l.dispatch(e)
		case e.ID != nil && e.Method == "":
			l.deliver(jsonrpc.Message{ID: e.ID, Error: unreadable})
		default: // servers do print other things than messages
			rubbish++
		}
		if rubbish > maxRubbish {
			l.end(fmt.Errorf("the server prints lines that are not messages: %.80q", line))
			go l.peer.Stop()
			return
		}
	}
}

func (l *link) dispatch(e jsonrpc.Message) {
	switch {
	case e.Method == fetch.WebMethod && e.ID != nil && l.startWeb(e):
	case e.Method != "" && e.ID != nil:
		select {
		case l.requests <- serverRequest{id: e.ID, method: e.Method}:
		default:
		}
	case e.Method == "notifications/progress":
		var p struct {
			Token json.RawMessage `json:"progressToken"`
		}
		if json.Unmarshal(e.Params, &p) != nil {
			return
		}
		l.mu.Lock()
		f := l.progress[string(p.Token)]
		l.mu.Unlock()
		if f != nil {
			f(e.Params)
		}
	case e.Method != "":
		l.mu.Lock()
		f := l.notify
		l.mu.Unlock()
		if f != nil {
			f(mcp.JSONRPCNotification{Notification: mcp.Notification{Method: e.Method}})
		}
	case e.ID != nil:
		l.deliver(e)
	}
}

func (l *link) deliver(e jsonrpc.Message) {
	l.mu.Lock()
	w, ok := l.waiting[string(e.ID)]
	delete(l.waiting, string(e.ID))
	l.mu.Unlock()
	if !ok {
		return // never asked, or forgotten
	}
	if w.over != nil { // nobody sets it any more: w is not in the map
		w.over()
		return
	}
	r := reply{result: e.Result}
	if e.Error != nil {
		var detail mcp.JSONRPCErrorDetails
		if json.Unmarshal(e.Error, &detail) != nil {
			detail.Message = "the server answered with an error that cannot be understood"
		}
		r.err = &serverError{text: detail.Message}
	} else if e.Result == nil {
		r.err = &serverError{text: "the server answered without a result"}
	}
	if w.charged {
		r.room = l.take(len(r.result))
	}
	w.got <- r
}

// take waits until there is room for an answer. It does not wait when the server is being
// stopped.
func (l *link) take(bytes int) hold {
	h := hold{of: l.room.answers}
	if n := min(int64(bytes), l.room.forOne); h.of.Acquire(l.life, n) == nil {
		h.bytes = n
		pressure.Add(n)
	}
	return h
}

// serverError is an error with which the server answered.
type serverError struct{ text string }

func (e *serverError) Error() string { return e.text }

// end fails all requests that somebody waits for.
func (l *link) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = serverGone(err)
	for id, w := range l.waiting {
		if w.over == nil {
			delete(l.waiting, id)
			w.got <- reply{err: l.ended}
		}
	}
}

// answerServer answers the server's own requests: ping and roots/list. Any other is refused, so a
// server can neither use a model nor ask a person through us.
func (l *link) answerServer() {
	for r := range l.requests {
		var err error
		switch {
		case r.method == "ping":
			err = l.out.Send(jsonrpc.Answer(r.id, json.RawMessage("{}")))
		case r.method == "roots/list" && len(l.roots.base) > 0:
			err = l.roots.answer(r.id, l.out.Send)
		default:
			err = l.out.Send(jsonrpc.AnswerError(r.id, jsonrpc.Refuse(jsonrpc.MethodNotFound, "this client does not offer that")))
		}
		if err != nil {
			return
		}
	}
}

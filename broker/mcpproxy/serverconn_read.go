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
func (sc *serverConn) read() {
	defer close(sc.heard)
	defer close(sc.requests)
	frames := jsonrpc.NewReader(sc.peer.Stdout(), sc.limit)
	frames.StopAtTooLong()
	rubbish := 0
	for {
		line, err := frames.Next(nil)
		if errors.Is(err, jsonrpc.ErrTooLong) {
			// Nobody knows which call it answered, so no caller can get an error.
			err = errors.New("the server sent a message that is too long")
			go sc.peer.Stop()
		}
		if err != nil {
			sc.end(err)
			return
		}
		switch e, err := strict.Open(line); {
		case err == nil:
			rubbish = 0
			sc.dispatch(e)
		case e.ID != nil && e.Method == "":
			sc.deliver(jsonrpc.Message{ID: e.ID, Error: unreadable})
		default: // servers do print other things than messages
			rubbish++
		}
		if rubbish > maxRubbish {
			sc.end(fmt.Errorf("the server prints lines that are not messages: %.80q", line))
			go sc.peer.Stop()
			return
		}
	}
}

func (sc *serverConn) dispatch(e jsonrpc.Message) {
	switch {
	case e.Method == fetch.WebMethod && e.ID != nil && sc.startWeb(e):
	case e.Method != "" && e.ID != nil:
		select {
		case sc.requests <- serverRequest{id: e.ID, method: e.Method}:
		default:
		}
	case e.Method == "notifications/progress":
		var p struct {
			Token json.RawMessage `json:"progressToken"`
		}
		if json.Unmarshal(e.Params, &p) != nil {
			return
		}
		sc.mu.Lock()
		f := sc.progress[string(p.Token)]
		sc.mu.Unlock()
		if f != nil {
			f(e.Params)
		}
	case e.Method != "":
		sc.mu.Lock()
		f := sc.notify
		sc.mu.Unlock()
		if f != nil {
			f(mcp.JSONRPCNotification{Notification: mcp.Notification{Method: e.Method}})
		}
	case e.ID != nil:
		sc.deliver(e)
	}
}

func (sc *serverConn) deliver(e jsonrpc.Message) {
	sc.mu.Lock()
	w, ok := sc.waiting[string(e.ID)]
	delete(sc.waiting, string(e.ID))
	sc.mu.Unlock()
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
		r.room = sc.take(len(r.result))
	}
	w.got <- r
}

// take waits until there is room for an answer. It does not wait when the server is being
// stopped.
func (sc *serverConn) take(bytes int) hold {
	h := hold{of: sc.room.answers}
	if n := min(int64(bytes), sc.room.forOne); h.of.Acquire(sc.life, n) == nil {
		h.bytes = n
		pressure.Add(n)
	}
	return h
}

// serverError is an error with which the server answered.
type serverError struct{ text string }

func (e *serverError) Error() string { return e.text }

// end fails all requests that somebody waits for.
func (sc *serverConn) end(err error) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.ended = serverGone(err)
	for id, w := range sc.waiting {
		if w.over == nil {
			delete(sc.waiting, id)
			w.got <- reply{err: sc.ended}
		}
	}
}

// answerServer answers the server's own requests: ping and roots/list. Any other is refused, so a
// server can neither use a model nor ask a person through us.
func (sc *serverConn) answerServer() {
	for r := range sc.requests {
		var err error
		switch {
		case r.method == "ping":
			err = sc.out.Send(jsonrpc.Answer(r.id, json.RawMessage("{}")))
		case r.method == "roots/list" && len(sc.roots.base) > 0:
			err = sc.roots.answer(r.id, sc.out.Send)
		default:
			err = sc.out.Send(jsonrpc.AnswerError(r.id, jsonrpc.Refuse(jsonrpc.MethodNotFound, "this client does not offer that")))
		}
		if err != nil {
			return
		}
	}
}

package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Message is a message with its parameters, result and error still as JSON, which alias the
// line.
type Message struct {
	ID     json.RawMessage // nil for a notification
	Method string          // empty for an answer
	Params json.RawMessage // nil when absent
	Result json.RawMessage // of an answer
	Error  json.RawMessage // of an answer
}

// The codes of errors that JSON-RPC defines.
const (
	ParseError     = -32700
	InvalidRequest = -32600
	MethodNotFound = -32601
	InvalidParams  = -32602
	InternalError  = -32603
)

// Error is the error that answers a message.
type Error struct {
	Code int
	Text string
}

func (e *Error) Error() string { return e.Text }

// Refuse makes an *Error.
func Refuse(code int, format string, args ...any) error {
	return &Error{Code: code, Text: fmt.Errorf(format, args...).Error()}
}

// Request returns the line of a request. The parameters are JSON.
func Request(id json.RawMessage, method string, params json.RawMessage) []byte {
	b := begin(id, len(method)+len(params)+len(`,"method":"","params":`))
	return append(withMethod(b, method, params), '}')
}

// Notification returns the line of a notification. The parameters are JSON, or nil.
func Notification(method string, params json.RawMessage) []byte {
	b := append(make([]byte, 0, len(method)+len(params)+48), `{"jsonrpc":"2.0"`...)
	return append(withMethod(b, method, params), '}')
}

// Answer returns the line of a response. The result is JSON.
func Answer(id, result json.RawMessage) []byte {
	b := append(begin(id, len(result)+len(`,"result":`)), `,"result":`...)
	return append(append(b, result...), '}')
}

// AnswerError returns the line of an error response. A nil id means that the message's id is
// not known. An error that is not an *Error is answered as InternalError.
func AnswerError(id json.RawMessage, err error) []byte {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Code: InternalError, Text: err.Error()}
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	b := append(begin(id, len(e.Text)+48), `,"error":{"code":`...)
	b = append(strconv.AppendInt(b, int64(e.Code), 10), `,"message":`...)
	return append(appendText(b, e.Text), "}}"...)
}

// begin returns the beginning of a message with an id, with room for more bytes.
func begin(id json.RawMessage, more int) []byte {
	const head = `{"jsonrpc":"2.0","id":`
	b := append(make([]byte, 0, len(head)+len(id)+more+1), head...)
	return append(b, id...)
}

func withMethod(b []byte, method string, params json.RawMessage) []byte {
	b = appendText(append(b, `,"method":`...), method)
	if params == nil {
		return b
	}
	return append(append(b, `,"params":`...), params...)
}

// appendText appends a text without changing characters for HTML.
func appendText(b []byte, text string) []byte {
	if plain(text) {
		return append(append(append(b, '"'), text...), '"')
	}
	var quoted bytes.Buffer
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // encoding a string cannot fail
	return append(b, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
}

// plain reports whether a text needs no escape in JSON.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

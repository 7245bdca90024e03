package mcpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// message is one JSON-RPC message of an agent, taken apart but for its
// parameters.
type message struct {
	id     json.RawMessage // nil for a notification
	method string          // empty for an answer
	params json.RawMessage // nil when absent
}

// protocolError is a message that is answered with a JSON-RPC error.
type protocolError struct {
	code int
	text string
}

func (e *protocolError) Error() string { return e.text }

func refuse(code int, format string, args ...any) error {
	return &protocolError{code: code, text: fmt.Errorf(format, args...).Error()}
}

// decode takes a line apart. The id is returned as far as it was understood,
// also with an error, so that the answer finds its way.
func decode(line []byte) (message, error) {
	var m message
	if first := bytes.TrimLeft(line, " \t"); len(first) > 0 && first[0] == '[' {
		return m, refuse(mcp.INVALID_REQUEST, "batches are not accepted: send each request by itself")
	}
	fields, err := jsonx.Split(line)
	if err != nil {
		return m, refuse(mcp.PARSE_ERROR, "the message is not JSON that has one meaning: %v", err)
	}
	version, answer := "", false
	for _, f := range fields {
		switch f.Name {
		case "jsonrpc":
			version, err = text(f.Raw)
		case "id":
			m.id, err = identifier(f.Raw)
		case "method":
			m.method, err = text(f.Raw)
		case "params":
			m.params = f.Raw
		case "result", "error":
			answer = true
		default:
			err = errors.New("it has a member that JSON-RPC does not know")
		}
		if err != nil {
			return m, refuse(mcp.INVALID_REQUEST, "the message is refused: %v", err)
		}
	}
	switch {
	case version != "2.0":
		return m, refuse(mcp.INVALID_REQUEST, "the message is not JSON-RPC 2.0")
	case answer && m.method == "":
		return m, nil
	case answer || m.method == "":
		return m, refuse(mcp.INVALID_REQUEST, "the message is neither a request nor an answer")
	}
	return m, nil
}

// identifier accepts strings and whole numbers, not null. A number may be of
// any size: it goes back as it came, and nobody reckons with it.
func identifier(raw []byte) (json.RawMessage, error) {
	v, err := jsonx.Parse(raw, jsonx.Limits{Bytes: 1 << 10, Trusted: true})
	if err != nil {
		return nil, fmt.Errorf("id: %w", err)
	}
	switch v.Kind {
	case jsonx.String:
	case jsonx.Number:
		if bytes.ContainsAny(raw, ".eE") {
			return nil, errors.New("id is not a whole number")
		}
	default:
		return nil, errors.New("id is neither a string nor a number")
	}
	return v.Encode(), nil
}

func text(raw []byte) (string, error) {
	v, err := jsonx.Parse(raw, jsonx.Limits{Bytes: 4 << 10})
	if err != nil {
		return "", err
	}
	if v.Kind != jsonx.String {
		return "", errors.New("a text is expected")
	}
	return v.Text, nil
}

// errUnknownMember refuses what nobody would judge.
var errUnknownMember = errors.New("they have a member that is none of a call's")

// callParams are the parameters of tools/call.
type callParams struct {
	name          string
	arguments     json.RawMessage // as received; nil when absent
	progressToken json.RawMessage // nil when the agent wants no progress
}

// decodeCall takes the parameters of tools/call apart. The arguments are left
// for the policy to read.
func decodeCall(raw json.RawMessage) (callParams, error) {
	var p callParams
	fields, err := jsonx.Split(raw)
	if err != nil {
		return p, fmt.Errorf("the parameters are refused: %w", err)
	}
	for _, f := range fields {
		switch f.Name {
		case "name":
			p.name, err = text(f.Raw)
		case "arguments":
			p.arguments = f.Raw
		case "_meta":
			p.progressToken, err = progressToken(f.Raw)
		default:
			err = errUnknownMember
		}
		if err != nil {
			return p, fmt.Errorf("the parameters are refused: %w", err)
		}
	}
	if p.name == "" {
		return p, errors.New("the call names no tool")
	}
	return p, nil
}

func progressToken(raw []byte) (json.RawMessage, error) {
	v, err := jsonx.Parse(raw, jsonx.Limits{Bytes: 64 << 10, Trusted: true}) // nothing else of it is read
	if err != nil {
		return nil, err
	}
	token, ok := v.Member("progressToken")
	if !ok {
		return nil, nil
	}
	if token, err := identifier(token.Encode()); err == nil {
		return token, nil
	}
	return nil, errors.New("the progress token is neither a string nor a whole number")
}

// encode writes a value without changing characters for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// answer is a JSON-RPC response with a result that is JSON already.
func answer(id, result json.RawMessage) []byte {
	b := make([]byte, 0, len(result)+len(id)+40)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"result":`...)
	b = append(b, result...)
	return append(b, '}')
}

// answerError is a JSON-RPC error response.
func answerError(id json.RawMessage, err error) []byte {
	var p *protocolError
	if !errors.As(err, &p) {
		p = &protocolError{code: mcp.INTERNAL_ERROR, text: err.Error()}
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	body, encErr := encode(map[string]any{"code": p.code, "message": p.text})
	if encErr != nil {
		body = []byte(`{"code":-32603,"message":"internal error"}`)
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(b, `,"error":`...)
	return append(append(b, body...), '}')
}

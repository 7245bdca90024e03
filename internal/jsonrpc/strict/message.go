package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// Decode decodes a line of an untrusted client. If it could read the id, it returns the id
// even with an error, so that the error can be answered. The error is a *jsonrpc.Error.
func Decode(line []byte) (jsonrpc.Message, error) {
	var m jsonrpc.Message
	if first := bytes.TrimLeft(line, " \t"); len(first) > 0 && first[0] == '[' {
		return m, jsonrpc.Refuse(jsonrpc.InvalidRequest, "batches are not accepted: send each request by itself")
	}
	fields, err := jsonx.Split(line)
	if err != nil {
		return m, notJSON(err)
	}
	version, answer := "", false
	for _, f := range fields {
		switch f.Name {
		case "jsonrpc":
			version, err = Text(f.Raw)
		case "id":
			m.ID, err = Identifier(f.Raw)
		case "method":
			m.Method, err = Text(f.Raw)
		case "params":
			m.Params = f.Raw
		case "result":
			m.Result, answer = f.Raw, true
		case "error":
			m.Error, answer = f.Raw, true
		default:
			err = errors.New("JSON-RPC does not have one of its members")
		}
		if err != nil {
			return m, jsonrpc.Refuse(jsonrpc.InvalidRequest, "the message is refused: %v", err)
		}
	}
	switch {
	case version != "2.0":
		return m, jsonrpc.Refuse(jsonrpc.InvalidRequest, "the message is not JSON-RPC 2.0")
	case answer && m.Method == "":
		return m, nil
	case answer || m.Method == "":
		return m, jsonrpc.Refuse(jsonrpc.InvalidRequest, "the message is neither a request nor an answer")
	}
	return m, nil
}

// Open splits a line from a server into its parts. It does not check the parts, not even
// the id: the code that uses a part checks it. If the line cannot be parsed, the message
// has the parts before the fault, and the error is a *jsonrpc.Error.
func Open(line []byte) (jsonrpc.Message, error) {
	var m jsonrpc.Message
	fields, err := jsonx.Split(line)
	for _, f := range fields {
		switch f.Name {
		case "id":
			m.ID = f.Raw
		case "method":
			if json.Unmarshal(f.Raw, &m.Method) != nil {
				return m, jsonrpc.Refuse(jsonrpc.InvalidRequest, "the message's method is not a string")
			}
		case "params":
			m.Params = f.Raw
		case "result":
			m.Result = f.Raw
		case "error":
			if string(f.Raw) != "null" {
				m.Error = f.Raw
			}
		}
	}
	if err != nil {
		return m, notJSON(err)
	}
	return m, nil
}

// notJSON returns the refusal of a line for an error of jsonx.
func notJSON(err error) error {
	return jsonrpc.Refuse(jsonrpc.ParseError, "the message is not unambiguous JSON: %v", err)
}

// Identifier accepts strings and whole numbers, not null. A number may be of any size, because
// it is only sent back unchanged.
func Identifier(raw []byte) (json.RawMessage, error) {
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

// Text accepts a short text.
func Text(raw []byte) (string, error) {
	v, err := jsonx.Parse(raw, jsonx.Limits{Bytes: 4 << 10})
	if err != nil {
		return "", err
	}
	if v.Kind != jsonx.String {
		return "", errors.New("a text is expected")
	}
	return v.Text, nil
}

package mcpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc/strict"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// errUnknownMember refuses a member that nobody would judge.
var errUnknownMember = errors.New("a member is unknown")

// decode decodes the parameters of tools/call, except the arguments, which the policy
// reads. It returns the name of the tool.
func (c *call) decode(raw json.RawMessage) (tool string, err error) {
	fields, err := jsonx.Split(raw)
	if err != nil {
		return "", fmt.Errorf("the parameters are refused: %w", err)
	}
	for _, f := range fields {
		switch f.Name {
		case "name":
			tool, err = strict.Text(f.Raw)
		case "arguments":
			c.arguments = f.Raw
		case "_meta":
			c.progressToken, err = progressToken(f.Raw)
		default:
			err = errUnknownMember
		}
		if err != nil {
			return "", fmt.Errorf("the parameters are refused: %w", err)
		}
	}
	if tool == "" {
		return "", errors.New("the call names no tool")
	}
	return tool, nil
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
	if token, err := strict.Identifier(token.Encode()); err == nil {
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

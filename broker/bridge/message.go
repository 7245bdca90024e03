package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
)

// maxLine bounds one message, in bytes. The host's own limit is lower; it says so
// to the agent itself.
const maxLine = 32 << 20

// envelope is what the bridge needs to know of a message.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
		Ticket    string          `json:"ticket"`
	} `json:"params"`
	Error json.RawMessage `json:"error"`
}

// parseEnvelope takes a line for the message it seems to be; what cannot be understood is
// none that is answered. The host judges what it is.
func parseEnvelope(line []byte) envelope {
	var e envelope
	_ = json.Unmarshal(line, &e)
	if string(e.ID) == "null" {
		e.ID = nil
	}
	return e
}

// next returns the next line that is not blank. It belongs to the caller. The end may
// come without an end of the last line.
func next(from *jsonrpc.Reader) ([]byte, error) {
	for {
		line, err := from.Next(nil)
		line = bytes.TrimSpace(line)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF) && len(line) > 0:
			return line, nil // the end comes with the next read
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, io.EOF
		case err != nil || len(line) > 0:
			return line, err
		}
	}
}

// interrupted is the answer to a tool call of which nobody knows whether it was
// carried out: a result, because models read results.
func interrupted(id json.RawMessage) []byte {
	const text = "INTERRUPTED: the connection to the host was lost during this call. " +
		"Whether it took effect is not known, and it is not repeated. Look at its effect before you do it again."
	return jsonrpc.Answer(id, compose(map[string]any{
		"isError": true,
		"content": []any{map[string]any{"type": "text", "text": text}},
	}))
}

// errRefused is the code for a request that is not passed on.
const errRefused = -32000

// refused is the answer to a request that is not passed on.
func refused(id json.RawMessage, text string) []byte {
	return jsonrpc.AnswerError(id, &jsonrpc.Error{Code: errRefused, Text: text})
}

// compose encodes a part of a message of the bridge's own.
func compose(part map[string]any) []byte {
	raw, err := json.Marshal(part)
	if err != nil {
		panic(err) // ids were decoded from JSON, the rest is text
	}
	return raw
}

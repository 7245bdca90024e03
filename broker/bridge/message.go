package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
)

// maxLine is the longest message, in bytes. The host has a lower limit and tells the agent of it.
const maxLine = 32 << 20

// envelope is the part of a message that the bridge needs.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
		Ticket    string          `json:"ticket"`
	} `json:"params"`
	Error json.RawMessage `json:"error"`
}

// parseEnvelope reads the envelope of a line without checking it, because the host checks the
// message. The bridge does not answer malformed lines.
func parseEnvelope(line []byte) envelope {
	var e envelope
	_ = json.Unmarshal(line, &e)
	if string(e.ID) == "null" {
		e.ID = nil
	}
	return e
}

// next returns the next line that is not blank. The line belongs to the caller. The last line need
// not end with a line feed.
func next(from *jsonrpc.Reader) ([]byte, error) {
	for {
		line, err := from.Next(nil)
		line = bytes.TrimSpace(line)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF) && len(line) > 0:
			return line, nil // the next call returns io.EOF
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, io.EOF
		case err != nil || len(line) > 0:
			return line, err
		}
	}
}

// interrupted returns the answer to a tool call that may or may not have been carried out. It is a
// result and not a protocol error, because models read results.
func interrupted(id json.RawMessage) []byte {
	const text = "INTERRUPTED: the connection to the host was lost during this call. " +
		"Whether it took effect is not known, and it is not repeated. Look at its effect before you do it again."
	return jsonrpc.Answer(id, compose(map[string]any{
		"isError": true,
		"content": []any{map[string]any{"type": "text", "text": text}},
	}))
}

// errRefused is the error code of a request that the bridge refuses.
const errRefused = -32000

// refused returns the answer to a request that the bridge refuses.
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

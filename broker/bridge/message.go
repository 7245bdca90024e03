package bridge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// maxLine bounds one message, in bytes. The host's own limit is lower; it says so
// to the agent itself.
const maxLine = 32 << 20

// errTooLong is the end of a connection that sends no messages.
var errTooLong = errors.New("a message is too long")

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

// lines reads messages: one a line.
type lines struct{ r *bufio.Reader }

func newLines(r io.Reader) *lines { return &lines{bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line that is not empty, without its end. It belongs to
// the caller.
func (l *lines) next() ([]byte, error) {
	for {
		var line []byte
		for {
			part, err := l.r.ReadSlice('\n')
			line = append(line, part...)
			if len(line) > maxLine {
				return nil, errTooLong
			}
			if err == nil {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				if errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0 {
					return bytes.TrimSpace(line), nil // the end comes with the next read
				}
				return nil, err
			}
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// interrupted is the answer to a tool call of which nobody knows whether it was
// carried out: a result, because models read results.
func interrupted(id json.RawMessage) []byte {
	const text = "INTERRUPTED: the connection to the host was lost during this call. " +
		"Whether it took effect is not known, and it is not repeated. Look at its effect before you do it again."
	return compose(map[string]any{
		"jsonrpc": "2.0",
		"id":      id,
		"result": map[string]any{
			"isError": true,
			"content": []any{map[string]any{"type": "text", "text": text}},
		},
	})
}

// refused is the answer to a request that is not passed on.
func refused(id json.RawMessage, text string) []byte {
	return compose(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": -32000, "message": text},
	})
}

// compose encodes a message of the bridge's own.
func compose(message map[string]any) []byte {
	line, err := json.Marshal(message)
	if err != nil {
		panic(err) // ids were decoded from JSON, the rest is text
	}
	return line
}

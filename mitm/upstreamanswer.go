package mitm

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
)

// errAnswer means that an answer violates the framing of HTTP/1.1, or that two parsers
// could read it differently.
var errAnswer = errors.New("the answer is not proper HTTP/1.1")

const (
	// answerHeadBytes is the greatest size of an answer's head, in bytes.
	answerHeadBytes = 256 << 10
	// interims is the greatest number of informational heads before an answer.
	interims = 5
)

// answerField is one header field of an answer: its name in lower case and as
// the server wrote it.
type answerField struct{ name, written, value string }

// upstreamAnswer is an answer whose head was read. Reading it reads its body.
type upstreamAnswer struct {
	u    *upstream
	c    *upstreamConn
	stop func() bool // detaches the connection from the request's context

	status int
	fields []answerField
	length int64 // of the body; -1 when the head does not say

	left    int64     // bytes left of a body with a length
	chunks  io.Reader // of a chunked body
	keep    bool      // the server keeps the connection open
	trailer bool      // all chunks were read, but not the trailer after them
	whole   bool      // the body was read to its end
}

// first returns the value of the first field with a name in lower case, and how many
// such fields there are.
func (a *upstreamAnswer) first(name string) (value string, count int) {
	for _, f := range a.fields {
		if f.name != name {
			continue
		}
		if count++; count == 1 {
			value = f.value
		}
	}
	return value, count
}

// readHead reads heads up to the first that is not informational.
func (a *upstreamAnswer) readHead(method string) error {
	for range interims {
		if err := a.readOneHead(); err != nil {
			return err
		}
		if a.status >= 200 {
			a.c.fields = a.fields
			return a.frame(method)
		}
		if a.status == http.StatusSwitchingProtocols {
			a.whole, a.keep = true, false // the bytes after it are not HTTP
			return nil
		}
	}
	return fmt.Errorf("%w: only informational heads came", errAnswer)
}

func (a *upstreamAnswer) readOneHead() error {
	text := newLines(a.c.r, answerHeadBytes)
	line, err := a.line(&text)
	if err != nil {
		return err
	}
	version, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(rest, " ")
	status, ok := parseLength(code)
	if version != "HTTP/1.1" && version != "HTTP/1.0" || !ok || len(code) != 3 {
		return fmt.Errorf("%w: it has no status line", errAnswer)
	}
	if status < 100 || status > 599 {
		return fmt.Errorf("%w: its status code is not between 100 and 599", errAnswer)
	}
	a.status, a.keep, a.fields = int(status), version == "HTTP/1.1", a.fields[:0]
	for {
		if line, err = a.line(&text); err != nil || line == "" {
			return err
		}
		f, err := parseAnswerField(line)
		if err != nil {
			return err
		}
		a.fields = append(a.fields, f)
	}
}

// line reads one line of the head.
func (a *upstreamAnswer) line(text *lines) (string, error) {
	line, err := text.next()
	if err != nil {
		return "", lineError(err)
	}
	a.c.received += int64(len(line)) + 2
	return line, nil
}

func lineError(err error) error {
	var d *denial
	switch {
	case errors.Is(err, errQuiet):
		return io.ErrUnexpectedEOF
	case errors.As(err, &d):
		return fmt.Errorf("%w: %s", errAnswer, d.message)
	}
	return err
}

// parseAnswerField reads one header line. Its value may hold any text, but no
// control characters.
func parseAnswerField(line string) (answerField, error) {
	name, value, ok := strings.Cut(line, ":")
	if !ok || !isToken(name) {
		return answerField{}, fmt.Errorf("%w: a header line has no name", errAnswer)
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return answerField{}, fmt.Errorf("%w: a header field holds a control character", errAnswer)
		}
	}
	return answerField{name: fieldName(name), written: name, value: strings.Trim(value, " \t")}, nil
}

// frame determines where the body ends.
func (a *upstreamAnswer) frame(method string) error {
	length, lengths := a.first("content-length")
	coding, codings := a.first("transfer-encoding")
	for _, f := range a.fields {
		if f.name != "connection" {
			continue
		}
		for option := range strings.SplitSeq(f.value, ",") {
			a.keep = a.keep && !strings.EqualFold(strings.Trim(option, " \t"), "close")
		}
	}
	switch {
	case method == http.MethodHead || a.status == http.StatusNoContent || a.status == http.StatusNotModified:
		a.whole = true
	case codings > 0:
		if codings > 1 || lengths > 0 || !strings.EqualFold(coding, "chunked") {
			return fmt.Errorf("%w: its Transfer-Encoding is not chunked alone", errAnswer)
		}
		a.length, a.chunks = -1, httputil.NewChunkedReader(a.c.r)
	case lengths > 1:
		return fmt.Errorf("%w: it has more than one Content-Length", errAnswer)
	case lengths == 1:
		n, ok := parseLength(length)
		if !ok {
			return fmt.Errorf("%w: its Content-Length is not a plain number", errAnswer)
		}
		a.length, a.left, a.whole = n, n, n == 0
	default:
		a.length, a.keep = -1, false
	}
	return nil
}

// Read reads from the body. It returns io.EOF only at the end of a complete body.
func (a *upstreamAnswer) Read(p []byte) (int, error) {
	if a.whole {
		return 0, io.EOF
	}
	a.c.readTimeout(a.c.limits.StreamIdle)
	switch {
	case a.chunks != nil:
		return a.readChunks(p)
	case a.length < 0:
		n, err := a.c.r.Read(p)
		a.whole = errors.Is(err, io.EOF)
		return n, err
	}
	n, err := a.c.r.Read(p[:min(int64(len(p)), a.left)])
	a.left -= int64(n)
	if a.whole = a.left == 0; a.whole {
		return n, io.EOF
	}
	return n, cutShort(err)
}

// readChunks reads from a chunked body. It returns the bytes that have come before it
// waits for the trailer.
func (a *upstreamAnswer) readChunks(p []byte) (n int, err error) {
	if !a.trailer {
		if n, err = a.chunks.Read(p); !errors.Is(err, io.EOF) {
			return n, cutShort(err)
		}
		a.trailer = true
		if n > 0 && a.c.r.Buffered() < 2 {
			return n, nil
		}
	}
	for text := newLines(a.c.r, answerHeadBytes); ; {
		line, err := a.line(&text)
		if err != nil {
			return n, err
		}
		if line == "" {
			a.whole = true
			return n, io.EOF
		}
	}
}

// cutShort returns the error of reading a body that is incomplete.
func cutShort(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// close ends the answer. If the whole answer was read and nothing more is buffered, it
// keeps the connection for the next request.
func (a *upstreamAnswer) close() {
	detached := a.stop()
	if detached && a.whole && a.keep && a.c.sentAll() && a.c.r.Buffered() == 0 {
		a.u.keep(a.c)
		return
	}
	a.c.close()
	a.c.sending()
}

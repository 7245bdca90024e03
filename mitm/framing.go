package mitm

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// framing says where a request's body ends.
type framing struct {
	length   int64 // bytes of the body; 0 when chunked
	chunked  bool
	expect   bool // the client waits for "100 Continue"
	closing  bool // the client asks to close the connection
	upgrades bool
}

// hasBody reports whether a body follows, including an empty chunked one.
func (f framing) hasBody() bool { return f.chunked || f.length > 0 }

// frame reads the fields that decide where the message ends. It refuses everything that
// two parsers could read differently.
func frame(h *head) (framing, *denial) {
	var f framing
	if _, n := h.first("host"); n > 1 || n == 0 && h.version == "HTTP/1.1" {
		return f, deny(400, ReasonHost, "the request must have exactly one Host field")
	}
	if d := f.connection(h); d != nil {
		return f, d
	}
	length, lengths := h.first("content-length")
	coding, codings := h.first("transfer-encoding")
	if h.has("trailer") {
		return f, deny(400, ReasonCoding, "trailers are not accepted")
	}
	switch {
	case lengths > 0 && codings > 0:
		return f, deny(400, ReasonCoding, "Content-Length and Transfer-Encoding exclude each other")
	case codings > 1:
		return f, deny(400, ReasonCoding, "Transfer-Encoding appears more than once")
	case codings == 1:
		if h.version != "HTTP/1.1" {
			return f, deny(400, ReasonCoding, "Transfer-Encoding needs HTTP/1.1")
		}
		if coding != "chunked" {
			return f, deny(501, ReasonCoding, "the only transfer coding is chunked")
		}
		f.chunked = true
	case lengths > 1:
		return f, deny(400, ReasonLength, "Content-Length appears more than once")
	case lengths == 1:
		n, ok := parseLength(length)
		if !ok {
			return f, deny(400, ReasonLength, "Content-Length is not a plain number")
		}
		f.length = n
	}
	switch expect, n := h.first("expect"); {
	case n == 1 && strings.EqualFold(expect, "100-continue"):
		f.expect = true
	case n > 0:
		return f, deny(417, ReasonExpect, "the only expectation is 100-continue")
	}
	return f, nil
}

// connection reads the options of the Connection field. One proxy drops the fields that
// Connection names, another keeps them; so only the options that every HTTP/1.1 client
// may send pass.
func (f *framing) connection(h *head) *denial {
	f.closing = h.version == "HTTP/1.0"
	f.upgrades = h.has("upgrade") || h.has("http2-settings")
	for _, field := range h.fields {
		if field.name != "connection" {
			continue
		}
		for option := range strings.SplitSeq(field.value, ",") {
			switch option = strings.ToLower(strings.Trim(option, " \t")); option {
			case "close":
				f.closing = true
			case "keep-alive", "te", "":
			case "upgrade", "http2-settings":
				f.upgrades = true
			default:
				return deny(400, ReasonMalformed, "the Connection field names a field of the message")
			}
		}
	}
	return nil
}

// parseLength reads decimal digits without sign or leading zeros.
func parseLength(s string) (int64, bool) {
	if s == "" || len(s) > 15 || s[0] == '0' && s != "0" {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// errChunk means that the framing of a chunked body is not strictly correct.
var errChunk = errors.New("the chunked body has an extension, a trailer or a broken frame")

// chunkedReader reads a chunked body without extensions and trailers.
type chunkedReader struct {
	r    *bufio.Reader
	left int64 // bytes left of the current chunk
	some bool  // a chunk was read, so CR LF precedes the next size
	done bool
}

func (c *chunkedReader) Read(p []byte) (int, error) {
	if c.done {
		return 0, io.EOF
	}
	if c.left == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
		if c.done {
			return 0, io.EOF
		}
	}
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.r.Read(p)
	c.left -= int64(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// next reads the frame between two chunks.
func (c *chunkedReader) next() error {
	if c.some {
		if err := c.expectLine(nil); err != nil {
			return err
		}
	}
	c.some = true
	size := make([]byte, 0, 10)
	if err := c.expectLine(&size); err != nil {
		return err
	}
	n, err := strconv.ParseUint(string(size), 16, 32)
	if err != nil || slices.ContainsFunc(size, func(b byte) bool { return b == '_' || b == '+' }) {
		return errChunk
	}
	if n == 0 {
		c.done = true
		return c.expectLine(nil)
	}
	c.left = int64(n)
	return nil
}

// expectLine reads up to eight bytes into text and CR LF. If text is nil, it reads only
// CR LF.
func (c *chunkedReader) expectLine(text *[]byte) error {
	for {
		b, err := c.r.ReadByte()
		if errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		if b == '\r' {
			break
		}
		if text == nil || len(*text) == 8 {
			return errChunk
		}
		*text = append(*text, b)
	}
	b, err := c.r.ReadByte()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	if err == nil && b != '\n' {
		return errChunk
	}
	return err
}

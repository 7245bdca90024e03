package mitm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// lines reads the lines of one head. If the whole head is buffered already, it becomes
// one string, and its lines are slices of that string.
type lines struct {
	r     *bufio.Reader
	left  int    // bytes that the head may still have
	begun bool   // the first byte has come
	here  string // the unread rest of a head that was buffered as a whole
}

func newLines(r *bufio.Reader, limit int) lines { return lines{r: r, left: limit} }

// begin waits for the first byte.
func (l *lines) begin() error {
	l.begun = true
	if _, err := l.r.Peek(1); errors.Is(err, io.EOF) {
		return errQuiet
	} else if err != nil {
		return err
	}
	there, _ := l.r.Peek(l.r.Buffered())
	if i := bytes.Index(there, []byte("\r\n\r\n")); i >= 0 {
		l.here = string(there[:i+4])
	}
	return nil
}

// next reads a line that ends in CR LF and returns it without CR LF. It returns an error
// if the head is too large.
func (l *lines) next() (string, error) {
	if !l.begun {
		if err := l.begin(); err != nil {
			return "", err
		}
	}
	if l.here != "" {
		n := strings.IndexByte(l.here, '\n') + 1 // there is one at the end
		line := l.here[:n]
		l.here = l.here[n:]
		_, _ = l.r.Discard(n)
		return l.whole(line)
	}
	var long []byte // of a line that exceeds the reader's buffer
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case len(long)+len(part) > l.left:
			return "", headTooLarge()
		case errors.Is(err, bufio.ErrBufferFull):
			long = append(long, part...)
			continue
		case errors.Is(err, io.EOF) && len(long)+len(part) == 0:
			return "", errQuiet
		case errors.Is(err, io.EOF):
			return "", io.ErrUnexpectedEOF
		case err != nil:
			return "", err
		}
		return l.whole(string(append(long, part...)))
	}
}

func headTooLarge() error { return deny(431, ReasonHeaderTooLarge, "the request's head is too large") }

// whole counts a complete line and returns it without CR LF.
func (l *lines) whole(line string) (string, error) {
	if l.left -= len(line); l.left < 0 {
		return "", headTooLarge()
	}
	text, ok := strings.CutSuffix(line, "\r\n")
	if !ok {
		return "", deny(400, ReasonMalformed, "a line of the head does not end in CR LF")
	}
	return text, nil
}

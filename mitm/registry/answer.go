package registry

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Answer is where a Session writes its answer to an agent's request.
type Answer interface {
	// Start sends the head. length is that of the body in bytes, or -1 if it is not known; then
	// the client does not see the end of the body before Serve has returned nil.
	Start(status int, phrase string, fields []Field, length int64) error
	// Write sends a part of the body. It discards the body of an answer to HEAD.
	io.Writer
}

// Field is one field of a head.
type Field struct{ Name, Value string }

// refuser is an Ecosystem whose clients only show the text of a refusal if the body has a special
// form.
type refuser interface {
	RefusalBody(text string) (mediaType string, body []byte)
}

// refuse answers with a refusal. The text is in the reason phrase, which is all that pip
// shows, and in the body, which is what most others show.
func refuse(w Answer, e Ecosystem, r *Refusal) error {
	said := line(r.Text)
	kind, body := "text/plain; charset=utf-8", []byte(said+"\n")
	if own, is := e.(refuser); is {
		kind, body = own.RefusalBody(said)
	}
	if err := w.Start(r.Status, said, []Field{
		{"Content-Type", kind}, {"Cache-Control", "no-store"}, {"X-Ironcurtain-Denied", string(r.Reason)},
	}, int64(len(body))); err != nil {
		return err
	}
	_, err := w.Write(body)
	return err
}

// line turns a text into one line of printable ASCII, at most 300 bytes.
func line(s string) string {
	s = text.ASCII(s[:min(len(s), 300)])
	return s[:min(len(s), 300)]
}

// refusalOf returns the refusal for an error. The text of any other error is only logged, because
// it names files of the host.
func refusalOf(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	return Refuse(http.StatusBadGateway, ReasonUpstream, "the package could not be fetched or stored by this machine; the log of ironcurtain-mux says why")
}

// byteRange is a part of a body.
type byteRange struct{ from, length int64 }

// parseRange reads the field Range for a body of the given size. Like HTTP allows, it ignores a
// field that does not ask for exactly one range. It returns false for a range outside the body.
func parseRange(value string, size int64) (*byteRange, bool) {
	spec, is := strings.CutPrefix(value, "bytes=")
	first, last, dash := strings.Cut(spec, "-")
	if !is || !dash || strings.Contains(spec, ",") {
		return nil, true
	}
	from, errFirst := strconv.ParseUint(first, 10, 62)
	to, errLast := strconv.ParseUint(last, 10, 62)
	switch {
	case first == "" && errLast == nil: // the last bytes
		n := min(int64(to), size)
		if n == 0 {
			return nil, false
		}
		return &byteRange{size - n, n}, true
	case errFirst != nil || last != "" && errLast != nil || last != "" && to < from:
		return nil, true
	case int64(from) >= size:
		return nil, false
	case last == "" || int64(to) >= size:
		return &byteRange{int64(from), size - int64(from)}, true
	}
	return &byteRange{int64(from), int64(to-from) + 1}, true
}

// send answers with a body of known size, or with the range of it that the client wants.
func send(w Answer, fields []Field, wanted string, body io.ReaderAt, size int64) error {
	part, inside := parseRange(wanted, size)
	switch {
	case !inside:
		return w.Start(http.StatusRequestedRangeNotSatisfiable, "Range Not Satisfiable", []Field{{"Content-Range", fmt.Sprintf("bytes */%d", size)}}, 0)
	case part == nil:
		if err := w.Start(http.StatusOK, "OK", fields, size); err != nil {
			return err
		}
		part = &byteRange{0, size}
	default:
		fields = append(fields, Field{"Content-Range", fmt.Sprintf("bytes %d-%d/%d", part.from, part.from+part.length-1, size)})
		if err := w.Start(http.StatusPartialContent, "Partial Content", fields, part.length); err != nil {
			return err
		}
	}
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, io.NewSectionReader(body, part.from, part.length), make([]byte, 64<<10))
	return err
}

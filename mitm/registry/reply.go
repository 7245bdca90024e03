package registry

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"time"
)

// reply is the answer of a registry. The caller closes Body.
type reply struct {
	Status int
	Type   string // without parameters
	ETag   string
	Body   io.ReadCloser // decoded, and bounded in time
	Length int64         // of the body as it was sent; -1 when not told
}

// reply decodes an answer. If no compression was asked for, a compressed answer is the file
// itself: some servers declare the compression of a file as a content coding.
func (u *upstream) reply(res *http.Response, coded bool) (*reply, error) {
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	r := &reply{Status: res.StatusCode, Type: strings.ToLower(strings.TrimSpace(kind)), ETag: res.Header.Get("ETag"), Body: res.Body, Length: res.ContentLength}
	coding := strings.ToLower(res.Header.Get("Content-Encoding"))
	switch {
	case !coded, coding == "", coding == "identity":
	case coding == "gzip", coding == "x-gzip":
		packed := &counted{r: res.Body}
		unpacked, err := gzip.NewReader(packed)
		if err != nil {
			_ = res.Body.Close()
			return nil, Refuse(502, ReasonUpstream, "the registry's answer is not compressed as its header says")
		}
		r.Body = &ungzipped{unpacked: &counted{r: unpacked}, packed: packed, under: res.Body}
		r.Length = -1
	default:
		_ = res.Body.Close()
		return nil, Refuse(502, ReasonUpstream, "the registry's answer has a content coding that was not asked for")
	}
	return r, nil
}

// Limits of decompression; honest documents stay far below.
const (
	maxRatio  = 200
	freeBytes = 1 << 20 // without a limit of the ratio
)

// ungzipped decompresses a body. It refuses one that becomes too large.
type ungzipped struct {
	unpacked, packed *counted
	under            io.Closer
}

func (u *ungzipped) Read(p []byte) (int, error) {
	n, err := u.unpacked.Read(p)
	if u.unpacked.n > freeBytes && u.unpacked.n > maxRatio*u.packed.n {
		return 0, Refuse(502, ReasonLimit, "the registry's answer decompresses to more than %d times its size", maxRatio)
	}
	return n, err
}

func (u *ungzipped) Close() error { return u.under.Close() }

// counted counts the bytes that are read.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded is a body that ends if no byte arrives for too long.
type bounded struct {
	body  io.ReadCloser
	stall time.Duration
	timer *time.Timer
	done  func()
}

func newBounded(body io.ReadCloser, stall time.Duration, done func()) *bounded {
	return &bounded{body: body, stall: stall, timer: time.AfterFunc(stall, done), done: done}
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.timer.Reset(b.stall)
	return n, err
}

// Close ends the request.
func (b *bounded) Close() error {
	b.timer.Stop()
	err := b.body.Close()
	b.done()
	return err
}

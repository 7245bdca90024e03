package mitm

import (
	"errors"
	"io"
	"sync"
	"time"
)

// spool bounds the request bodies in memory, by counting their bytes.
type spool struct {
	limit int64
	mu    sync.Mutex
	used  int64
}

// acquire counts n bytes, or returns false if they exceed the limit.
func (s *spool) acquire(n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used+n > s.limit {
		return false
	}
	s.used += n
	return true
}

func (s *spool) release(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= n
}

// spoolStep is the least growth of a body's count, in bytes.
const spoolStep = 256 << 10

// hold counts n bytes in the spool for the body. An announced length is counted before
// the body is read. If it were counted little by little, several large bodies could stop
// each other halfway.
func (x *exchange) hold(n int64) *denial {
	if n <= x.spooled {
		return nil
	}
	more := max(n-x.spooled, spoolStep)
	if !x.p.spool.acquire(more) {
		d := deny(429, ReasonSpool, "Too many large requests are under way; try again.")
		d.retry = 5
		return d
	}
	x.spooled += more
	return nil
}

// readBody reads the whole body, under the limits of size and time.
func (x *exchange) readBody() ([]byte, *denial) {
	limits, most := x.p.limits, x.mostBody()
	if x.framing.length > most {
		return nil, x.tooLarge()
	}
	if d := x.hold(x.framing.length + 1); d != nil {
		return nil, d
	}
	if x.framing.expect && x.framing.hasBody() {
		if err := x.a.interim("HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return nil, failure(0, ReasonClientGone, "the client went away before its body")
		}
	}
	source := io.LimitReader(x.r, x.framing.length)
	if x.framing.chunked {
		source = &chunkedReader{r: x.r}
	}
	here := !x.framing.chunked && int64(x.r.Buffered()) >= x.framing.length // the whole body is buffered
	if !here {
		defer x.agent.unlimited(x.t)
	}
	end := time.Now().Add(limits.BodyTime)
	room := int64(4 << 10)
	if !x.framing.chunked {
		room = min(x.framing.length+1, 64<<10) // one more byte, to read the end without growing
	}
	data := make([]byte, 0, room)
	for {
		if len(data) == cap(data) {
			room := 2 * int64(len(data))
			if !x.framing.chunked {
				room = min(room, x.framing.length+1)
			}
			if d := x.hold(room); d != nil {
				return nil, d
			}
			data = append(make([]byte, 0, room), data...)
		}
		if !here {
			_ = x.t.SetReadDeadline(earlier(end, time.Now().Add(limits.BodyStall)))
		}
		n, err := source.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if int64(len(data)) > most {
			return nil, x.tooLarge()
		}
		if errors.Is(err, io.EOF) {
			return x.complete(data)
		}
		if err != nil {
			return nil, bodyDenial(err)
		}
	}
}

// complete refuses a body that is shorter than announced.
func (x *exchange) complete(data []byte) ([]byte, *denial) {
	if !x.framing.chunked && int64(len(data)) < x.framing.length {
		return nil, bodyDenial(io.ErrUnexpectedEOF)
	}
	return data, nil
}

func (x *exchange) tooLarge() *denial {
	return deny(413, ReasonTooLarge, "The body is larger than %d bytes.", x.mostBody())
}

// mostBody returns how many bytes the body may have.
func (x *exchange) mostBody() int64 {
	if x.g.provider.API && !x.g.web {
		return min(x.p.limits.AskedBytes, x.p.limits.BodyBytes)
	}
	return x.p.limits.BodyBytes
}

// bodyDenial turns an error of reading a body into a refusal.
func bodyDenial(err error) *denial {
	switch {
	case isTimeout(err):
		return failure(408, ReasonBodyTimeout, "The body did not arrive in time.")
	case errors.Is(err, errChunk):
		return deny(400, ReasonChunk, "%s", errChunk)
	default:
		return failure(0, ReasonTruncated, "the connection ended inside the body of a request")
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

package fakeengine

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// heldFor is how long the last bytes of a stream are held back with Faults.Truncate. Bytes that are
// held back when the stream ends are lost.
const heldFor = 250 * time.Millisecond

// stream is a request that has become a byte stream.
type stream struct {
	e              *Engine
	client, engine halfCloser
	input          io.Reader // from the client
	output         *bufio.Reader
	engineConn     net.Conn // engine, for deadlines
}

// Close cuts the stream.
func (s *stream) Close() error {
	s.client.Close()
	return s.engine.Close()
}

// hijack forwards a request that may turn its connection into a byte stream, and carries the stream.
func (e *Engine) hijack(w http.ResponseWriter, r *http.Request, f Faults) {
	engine, err := new(net.Dialer).DialContext(r.Context(), "unix", e.real)
	if err != nil {
		refuse(w, http.StatusBadGateway, err.Error())
		return
	}
	defer engine.Close()
	if f.NoUpgrade {
		r.Header.Del("Connection")
		r.Header.Del("Upgrade")
	}
	stop := context.AfterFunc(r.Context(), func() { engine.Close() })
	in := bufio.NewReaderSize(engine, pieceSize)
	err = r.Write(engine)
	var answer *http.Response
	if err == nil {
		answer, err = http.ReadResponse(in, r)
	}
	if err != nil {
		stop()
		refuse(w, http.StatusBadGateway, err.Error())
		return
	}
	defer answer.Body.Close()
	if !becomesStream(answer) {
		defer stop()
		maps.Copy(w.Header(), answer.Header)
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
		return
	}
	if !stop() {
		return // the client has gone
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	defer client.Close()
	_, err = io.WriteString(client, head(answer))
	if err == nil {
		s := &stream{
			e: e, client: client.(halfCloser), engine: engine.(halfCloser),
			input: buffered, output: in, engineConn: engine,
		}
		s.run(f)
	}
}

// becomesStream reports whether a byte stream follows an answer.
func becomesStream(answer *http.Response) bool {
	kind := answer.Header.Get("Content-Type")
	return answer.StatusCode == http.StatusSwitchingProtocols ||
		answer.StatusCode == http.StatusOK && answer.ContentLength < 0 && len(answer.TransferEncoding) == 0 &&
			strings.HasPrefix(kind, "application/vnd.docker.") && strings.HasSuffix(kind, "-stream")
}

// head returns the status line and the header of an answer.
func head(answer *http.Response) string {
	var b strings.Builder
	b.WriteString("HTTP/1.1 " + answer.Status + "\r\n")
	_ = answer.Header.Write(&b)
	b.WriteString("\r\n")
	return b.String()
}

// run carries the stream until both directions have ended, or it is cut.
func (s *stream) run(f Faults) {
	done, ok := s.e.begin(s)
	if !ok {
		return
	}
	defer done()
	s.e.count(1)
	defer s.e.count(-1)
	if f.Cut != nil {
		if life := f.Cut(); life > 0 {
			cut := time.AfterFunc(life, func() { s.Close() })
			defer cut.Stop()
		}
	}
	var both sync.WaitGroup
	both.Go(s.carryInput)
	both.Go(s.carryOutput)
	both.Wait()
	s.Close()
}

func (e *Engine) count(change int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.streams += change
}

// carryInput carries bytes to the engine, and their end.
func (s *stream) carryInput() {
	_, err := io.Copy(s.engine, s.input)
	f, _ := s.e.now()
	switch {
	case err != nil && f.KeepOpen: // the program has ended, but the client must not notice
		_, _ = io.Copy(io.Discard, s.input)
	case err != nil:
		s.Close()
	case !f.NoHalfClose:
		_ = s.engine.CloseWrite()
	}
}

// carryOutput carries bytes to the client, and their end.
func (s *stream) carryOutput() {
	buffer := make([]byte, pieceSize)
	var last []byte // held back
	for {
		f, _ := s.e.now()
		var wait time.Time
		if len(last) > 0 {
			wait = time.Now().Add(heldFor)
		}
		_ = s.engineConn.SetReadDeadline(wait)
		n, err := s.output.Read(buffer)
		quiet := errors.Is(err, os.ErrDeadlineExceeded)
		if err != nil && !quiet {
			break // and what was held back is lost
		}
		pass := last
		if last = nil; f.Truncate {
			last = bytes.Clone(buffer[:n])
		} else {
			pass = append(pass, buffer[:n]...)
		}
		if len(pass) == 0 {
			continue
		}
		if _, err := s.client.Write(pass); err != nil {
			s.Close()
			return
		}
	}
	if f, _ := s.e.now(); !f.KeepOpen {
		_ = s.client.CloseWrite()
	}
}

package remote

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc/strict"
)

// request sends a request and forwards the messages of the response. Unless the connection ends,
// every request gets an answer: the server's, or an error that says why the server has given none.
func (c *Conn) request(id []byte, method string, line []byte) {
	r, err := c.send(c.life, http.MethodPost, line)
	if err != nil {
		c.fail(err) // the server cannot be reached, or there is no login
		return
	}
	defer r.Body.Close()
	if method == "initialize" {
		c.noteSession(r)
	}
	if err := c.forwardResponse(r, id, method); err != nil && !c.endIfRefused(r, err) {
		c.answerError(id, err)
	}
}

// endIfRefused ends the connection if the server no longer knows the session or rejects the login.
// It reports whether it has done so. The proxy then connects to the server again.
func (c *Conn) endIfRefused(r *http.Response, err error) bool {
	c.mu.Lock()
	lost := c.session != "" && (r.StatusCode == http.StatusNotFound || r.StatusCode == http.StatusBadRequest)
	c.gone = c.gone || lost
	c.mu.Unlock()
	var refused *refusedError
	switch {
	case lost:
		c.fail(fmt.Errorf("%s has ended the session", c.host))
	case errors.As(err, &refused):
		c.fail(err)
	default:
		return false
	}
	return true
}

// noteSession notes the id of the session that the server opens.
func (c *Conn) noteSession(r *http.Response) {
	if id := r.Header.Get("Mcp-Session-Id"); isPlain(id) {
		c.mu.Lock()
		c.session = id
		c.mu.Unlock()
	}
}

// forwardResponse forwards the messages of a response, up to the answer to the request.
func (c *Conn) forwardResponse(r *http.Response, id []byte, method string) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	isAnswer := func(m jsonrpc.Message) bool {
		if m.Method != "" || string(m.ID) != string(id) {
			return false
		}
		if method == "initialize" {
			c.noteVersion(m.Result)
		}
		return true
	}
	grow, end := c.budget()
	defer end()
	switch {
	case r.StatusCode == http.StatusOK && kind == "text/event-stream":
		return c.forwardStream(r.Body, grow, isAnswer)
	case kind == "application/json" && r.StatusCode != http.StatusUnauthorized:
		text, err := readAll(r.Body, grow)
		if err != nil {
			return fmt.Errorf("the answer of %s: %w", c.host, err)
		}
		if m, err := strict.Open(text); err == nil && isAnswer(m) {
			return c.forward(text)
		}
		if r.StatusCode == http.StatusOK {
			return fmt.Errorf("the answer of %s is not an answer to the request", c.host)
		}
	case r.StatusCode == http.StatusOK:
		return fmt.Errorf("the answer of %s is %.80q, neither JSON nor a stream of events", c.host, kind)
	}
	return c.refused(r)
}

// forwardStream forwards the messages of a stream, up to the one that is the last.
func (c *Conn) forwardStream(body io.Reader, grow func(int) error, last func(jsonrpc.Message) bool) error {
	e := events{r: bufio.NewReaderSize(body, 4<<10), grow: grow}
	for {
		data, err := e.next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%s ended its stream before the answer", c.host)
		}
		if err != nil {
			return fmt.Errorf("the stream of %s: %w", c.host, err)
		}
		m, err := strict.Open(data)
		if err != nil {
			return fmt.Errorf("the stream of %s: %w", c.host, err)
		}
		done := last(m)
		if err := c.forward(data); err != nil || done {
			return err
		}
		if err := grow(0); err != nil {
			return err
		}
	}
}

// budget bounds the memory for the messages of one response. grow is called before a message grows
// to some bytes, and with 0 when it is forwarded; end is called at the end of the response. Of all
// responses, only one message at a time may be longer than small: grow waits for its turn.
func (c *Conn) budget() (grow func(bytes int) error, end func()) {
	turn := false
	end = func() {
		if turn {
			<-c.large
			turn = false
		}
	}
	return func(bytes int) error {
		switch {
		case bytes >= c.options.Limit: // the line feed at the end counts, too
			return errTooLong
		case bytes <= small:
			if bytes == 0 {
				end()
			}
			return nil
		case turn:
			return nil
		}
		select {
		case c.large <- struct{}{}:
			turn = true
			return nil
		case <-c.life.Done():
			return c.life.Err()
		}
	}, end
}

// noteVersion notes the version of the protocol in the server's answer to "initialize".
func (c *Conn) noteVersion(result json.RawMessage) {
	var chosen struct {
		Version string `json:"protocolVersion"`
	}
	if json.Unmarshal(result, &chosen) == nil && isPlain(chosen.Version) {
		c.mu.Lock()
		c.version = chosen.Version
		c.mu.Unlock()
	}
}

// The pause between streams of notifications doubles from minPause to maxPause.
const (
	minPause = time.Second
	maxPause = time.Minute
)

// listen forwards the messages that the server sends without a request, if it offers a stream of
// them, until the connection ends.
func (c *Conn) listen() {
	pause := minPause
	for {
		began := time.Now()
		r, err := c.send(c.life, http.MethodGet, nil)
		if err != nil {
			c.fail(err)
			return
		}
		kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		offered := r.StatusCode == http.StatusOK && kind == "text/event-stream"
		if offered {
			grow, end := c.budget()
			_ = c.forwardStream(r.Body, grow, func(jsonrpc.Message) bool { return false })
			end()
		}
		_ = r.Body.Close()
		if !offered && r.StatusCode/100 != 5 {
			return
		}
		if time.Since(began) > maxPause {
			pause = minPause
		}
		select {
		case <-time.After(pause):
		case <-c.life.Done():
			return
		}
		pause = min(2*pause, maxPause)
	}
}

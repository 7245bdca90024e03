package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc/strict"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
)

// Limits of a connection.
const (
	small      = 64 << 10         // bytes of a message that may be read at the same time as others
	maxQueue   = 64               // notifications and answers that wait to be sent
	noticeTime = 30 * time.Second // until the server must have accepted a notification or an answer
	endTime    = 2 * time.Second  // until the server must have accepted the end of a session
)

// Options say how to connect to a server.
type Options struct {
	Address string      // of its only endpoint, as netguard.Service accepts it
	Header  http.Header // of every request; the values may be secrets
	Limit   int         // bytes of a message
	Login   Login       // of the person at the server; nil if the server has no logins
}

// Login provides the tokens of the person's login at a server.
type Login interface {
	// Token returns the token to send, or "" if the person has not logged in.
	Token(ctx context.Context) (string, error)
	// Renew returns a token other than rejected, which the server has just rejected. rejected is ""
	// if none was sent.
	Renew(ctx context.Context, rejected string) (string, error)
}

// Conn is a connection to one server, which may open a session for it.
type Conn struct {
	options Options
	host    string
	client  *http.Client
	life    context.Context // ends when the connection does
	cancel  context.CancelFunc
	lines   *bufio.Reader // what the server sends
	out     *io.PipeWriter
	writing sync.Mutex    // of out
	large   chan struct{} // holds one value while a long message is read
	queue   chan []byte   // notifications and answers for sendQueue; dropped while it is full
	done    chan struct{}

	mu      sync.Mutex
	ended   error          // why the connection has ended
	group   sync.WaitGroup // requests and streams; nothing is added once ended is set
	session string         // the id that the server gave, or ""
	version string         // of the protocol, which the server chose
	gone    bool           // the server itself has ended the session
}

// Dial prepares a connection. It sends nothing: the first request is the first line that is written.
func Dial(o Options) (*Conn, error) {
	u, err := netguard.Service(o.Address)
	if err != nil {
		return nil, fmt.Errorf("the address of the server: %w", err)
	}
	in, out := io.Pipe()
	c := &Conn{
		options: o, host: u.Host, client: netguard.Dialer{}.Client(func(string) bool { return true }),
		lines: bufio.NewReaderSize(in, small), out: out,
		large: make(chan struct{}, 1), queue: make(chan []byte, maxQueue), done: make(chan struct{}),
	}
	c.life, c.cancel = context.WithCancel(context.Background())
	c.group.Go(c.sendQueue)
	return c, nil
}

// Stdin is where messages to the server are written, each with a line feed at its end.
func (c *Conn) Stdin() io.WriteCloser { return c }

// Stdout is where the server's messages are read. It ends when the connection does.
func (c *Conn) Stdout() *bufio.Reader { return c.lines }

// Sandboxed reports false, because nothing is known about the machine of the server.
func (c *Conn) Sandboxed() bool { return false }

// LastWords returns "", because Err says everything.
func (c *Conn) LastWords() string { return "" }

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err says why the connection has ended.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// Stop ends the connection and the server's session. It waits until all goroutines have ended.
func (c *Conn) Stop() {
	c.fail(errors.New("the connection was closed"))
	<-c.done
}

// Close is Stop.
func (c *Conn) Close() error {
	c.Stop()
	return nil
}

// fail starts to end the connection, and does not wait for its end.
func (c *Conn) fail(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return
	}
	c.ended = why
	c.cancel()
	_ = c.out.CloseWithError(why)
	go func() {
		c.group.Wait()
		c.endSession()
		c.client.CloseIdleConnections()
		close(c.done)
	}()
}

// endSession tells the server that it need not keep the session any longer.
func (c *Conn) endSession() {
	c.mu.Lock()
	none := c.session == "" || c.gone
	c.mu.Unlock()
	if none {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if r, err := c.send(ctx, http.MethodDelete, nil); err == nil {
		_ = r.Body.Close()
	}
}

// start runs f in a goroutine of the connection. f must return when the connection ends.
func (c *Conn) start(f func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended == nil {
		c.group.Go(f)
	}
	return c.ended
}

// Write sends whole lines. It waits only for the server to accept "initialized", because later
// requests must not overtake that.
func (c *Conn) Write(lines []byte) (int, error) {
	for line := range bytes.Lines(lines) {
		m, err := strict.Open(line)
		if err != nil {
			return 0, err
		}
		line = bytes.Clone(bytes.TrimSpace(line)) // the caller may reuse its buffer
		switch {
		case m.Method == "notifications/initialized":
			if err = c.notify(line); err == nil {
				err = c.start(c.listen)
			}
			if err != nil {
				c.fail(err)
			}
		case m.ID != nil && m.Method != "":
			id, method := bytes.Clone(m.ID), m.Method
			err = c.start(func() { c.request(id, method, line) })
		default:
			select {
			case c.queue <- line:
			default:
			}
		}
		if err != nil {
			return 0, err
		}
	}
	return len(lines), nil
}

// sendQueue sends the queued notifications and answers in their order.
func (c *Conn) sendQueue() {
	for {
		select {
		case line := <-c.queue:
			_ = c.notify(line) // the server can work without it
		case <-c.life.Done():
			return
		}
	}
}

// notify sends a message that gets no answer.
func (c *Conn) notify(line []byte) error {
	ctx, cancel := context.WithTimeout(c.life, noticeTime)
	defer cancel()
	r, err := c.send(ctx, http.MethodPost, line)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode/100 != 2 {
		return c.refused(r)
	}
	return nil
}

// send makes one HTTP request. If the server rejects the login, send renews it and retries once.
func (c *Conn) send(ctx context.Context, method string, body []byte) (*http.Response, error) {
	if c.options.Login == nil {
		return c.once(ctx, method, body, "")
	}
	token, err := c.options.Login.Token(ctx)
	if err != nil {
		return nil, err
	}
	r, err := c.once(ctx, method, body, token)
	if err != nil || r.StatusCode != http.StatusUnauthorized {
		return r, err
	}
	_ = r.Body.Close()
	if token, err = c.options.Login.Renew(ctx, token); err != nil {
		return nil, err
	}
	return c.once(ctx, method, body, token)
}

func (c *Conn) once(ctx context.Context, method string, body []byte, token string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.options.Address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if c.options.Header != nil {
		r.Header = c.options.Header.Clone()
	}
	r.Header.Set("User-Agent", "ironcurtain-mux")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodGet {
		r.Header.Set("Accept", "text/event-stream")
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	c.mu.Lock()
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	if c.version != "" {
		r.Header.Set("MCP-Protocol-Version", c.version)
	}
	c.mu.Unlock()
	answer, err := c.client.Do(r)
	var whole *url.Error
	if errors.As(err, &whole) { // whole quotes the address, which may be private
		err = whole.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.host, err)
	}
	return answer, nil
}

// refusedError means that the server rejected the login, or needs one and got none.
type refusedError struct{ Err error }

func (e *refusedError) Error() string { return e.Err.Error() }

func (e *refusedError) Unwrap() error { return e.Err }

// refused returns the error for a response without success.
func (c *Conn) refused(r *http.Response) error {
	err := fmt.Errorf("%s answered %q", c.host, fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode)))
	switch {
	case r.StatusCode == http.StatusUnauthorized && c.options.Login != nil:
		return &refusedError{fault.New("log in again", "%w: the server rejects the login that was just renewed", err)}
	case r.StatusCode == http.StatusUnauthorized:
		return &refusedError{fault.New("fix the server's headers and credentials in the configuration", "%w: the server needs a credential, or rejects the one in its headers", err)}
	case r.StatusCode/100 == 3:
		if to, bad := r.Location(); bad == nil {
			err = fmt.Errorf("%w: the server redirects to %.200q, which is not followed", err, to.Redacted())
		}
		return err
	case r.StatusCode == http.StatusNotFound || r.StatusCode == http.StatusMethodNotAllowed:
		return fmt.Errorf("%w: there is no Streamable HTTP server at this address; servers with the older SSE transport are not supported", err)
	}
	return err
}

// isPlain reports whether a text may be the id of a session or the version of the protocol.
func isPlain(s string) bool {
	return s != "" && len(s) <= 1000 && !strings.ContainsFunc(s, func(r rune) bool { return r < '!' || r > '~' })
}

// forward forwards one message of the server as one line.
func (c *Conn) forward(message []byte) error {
	for i, b := range message {
		if b == '\n' || b == '\r' { // in JSON, they can only be white space between tokens
			message[i] = ' '
		}
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(message, '\n'))
	return err
}

// answerError answers a request in place of the server.
func (c *Conn) answerError(id []byte, why error) {
	_ = c.forward(jsonrpc.AnswerError(id, why))
}

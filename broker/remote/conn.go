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
	small      = 64 << 10         // bytes of a message that is read beside others
	maxQueue   = 64               // notifications and answers that wait to be sent
	noticeTime = 30 * time.Second // for a notification or an answer to be taken
	endTime    = 2 * time.Second  // for the end of a session to be taken
)

// Options say where a server is and how it is spoken to.
type Options struct {
	Address string      // of its one endpoint, as netguard.Service accepts it
	Header  http.Header // of every request; the values may be secrets
	Limit   int         // bytes of a message
	Login   Login       // of the person at the server; nil: there can be none
}

// Login has the tokens of the person's login at a server.
type Login interface {
	// Token returns the token to be sent, or "" if nobody has logged in.
	Token(ctx context.Context) (string, error)
	// Renew returns another token than the one that the server has just rejected, which is
	// "" if there was none.
	Renew(ctx context.Context, rejected string) (string, error)
}

// Conn is a connection to one server. A session of the server's may belong to it.
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
	queue   chan []byte   // to the goroutine that sends notifications and answers; a flood is dropped
	done    chan struct{}

	mu      sync.Mutex
	ended   error          // why the connection has ended
	group   sync.WaitGroup // requests and streams; nothing is added once ended is set
	session string         // that the server has given
	version string         // of the protocol, as the server has chosen it
	gone    bool           // the server has ended the session by itself
}

// Dial prepares a connection. Only the first line that is written to it reaches the server.
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

// Stdin is where messages to the server are written, each with a line feed behind it.
func (c *Conn) Stdin() io.WriteCloser { return c }

// Stdout is where the server's messages are read. It ends when the connection does.
func (c *Conn) Stdout() *bufio.Reader { return c.lines }

// Sandboxed reports false: what the server does on its own machine is unknown.
func (c *Conn) Sandboxed() bool { return false }

// LastWords is empty, because Err says everything.
func (c *Conn) LastWords() string { return "" }

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err says why the connection has ended.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// Stop ends the connection and the server's session. It returns when nothing of it is left.
func (c *Conn) Stop() {
	c.fail(errors.New("the connection was closed"))
	<-c.done
}

// Close is Stop.
func (c *Conn) Close() error {
	c.Stop()
	return nil
}

// fail begins to end the connection, and does not wait until it has ended.
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

// endSession tells the server that the session has ended, so that it need not keep it.
func (c *Conn) endSession() {
	c.mu.Lock()
	needless := c.session == "" || c.gone
	c.mu.Unlock()
	if needless {
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

// Write sends whole lines. It waits only for "initialized", because the requests after it
// must not overtake it.
func (c *Conn) Write(lines []byte) (int, error) {
	for line := range bytes.Lines(lines) {
		m, err := strict.Open(line)
		if err != nil {
			return 0, err
		}
		line = bytes.Clone(bytes.TrimSpace(line)) // the caller uses its memory again
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

// sendQueue sends notifications and answers in their order.
func (c *Conn) sendQueue() {
	for {
		select {
		case line := <-c.queue:
			_ = c.notify(line) // the server can go on without it
		case <-c.life.Done():
			return
		}
	}
}

// notify sends a message that has no answer.
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

// send makes one HTTP request. When the server rejects the login, send has it renewed and
// tries once more.
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
	if errors.As(err, &whole) { // its text has the address, which may be private
		err = whole.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.host, err)
	}
	return answer, nil
}

// refusedError means that the server did not accept the login, or got none and needs one.
type refusedError struct{ Err error }

func (e *refusedError) Error() string { return e.Err.Error() }

func (e *refusedError) Unwrap() error { return e.Err }

// refused returns the error for a response without success.
func (c *Conn) refused(r *http.Response) error {
	err := fmt.Errorf("%s answered %q", c.host, fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode)))
	switch {
	case r.StatusCode == http.StatusUnauthorized && c.options.Login != nil:
		return &refusedError{fault.New("log in again", "%w: it refuses the login that was just renewed", err)}
	case r.StatusCode == http.StatusUnauthorized:
		return &refusedError{fault.New("fix its headers and credentials", "%w: it needs a credential, or refuses the one in its headers", err)}
	case r.StatusCode/100 == 3:
		if to, bad := r.Location(); bad == nil {
			err = fmt.Errorf("%w: it redirects to %.200q, which is not followed", err, to.Redacted())
		}
		return err
	case r.StatusCode == http.StatusNotFound || r.StatusCode == http.StatusMethodNotAllowed:
		return fmt.Errorf("%w: nothing speaks Streamable HTTP at this address; servers with the older SSE transport cannot be used", err)
	}
	return err
}

// plain reports whether a text may be the id of a session or the version of the protocol.
func plain(s string) bool {
	unfit := func(r rune) bool { return r < '!' || r > '~' }
	return s != "" && len(s) <= 1000 && !strings.ContainsFunc(s, unfit)
}

// pass passes one message of the server on, as one line.
func (c *Conn) pass(message []byte) error {
	for i, b := range message {
		if b == '\n' || b == '\r' { // between the parts of a JSON text they are spaces
			message[i] = ' '
		}
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(message, '\n'))
	return err
}

// answerError answers a request in the server's place.
func (c *Conn) answerError(id []byte, why error) {
	_ = c.pass(jsonrpc.AnswerError(id, why))
}

// Package provider asks the models of Anthropic, OpenAI and Google, each through its own library: a
// question (New), or in a conversation (NewChat), for which every provider will do that speaks one
// of their formats. It reads nothing from the environment.
package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/llm"
)

// maxAnswer bounds a provider's whole answer, in bytes.
const maxAnswer = 256 << 10

// reasoning is how many more tokens are allowed to models that think before they write.
const reasoning = 1000

// Options say which model is asked.
type Options struct {
	Provider string // "anthropic", "openai" or "google"; with a Format any other name
	// Format is whose format the provider speaks in a conversation. Empty: it is one of the
	// three and speaks its own. Any other provider needs Model and BaseURL too.
	Format  string
	Model   string // empty: the provider's small one
	Key     string
	BaseURL string // empty: the provider's own; https, or http on this machine
	// HTTP sends the requests. Nil: the system's resolver and certificates are used.
	HTTP http.RoundTripper
}

// Defaults are the small models that are asked when none is named.
var Defaults = map[string]string{
	"anthropic": "claude-haiku-4-5",
	"openai":    "gpt-5-mini",
	"google":    "gemini-2.5-flash",
}

// Providers are the names Options knows.
func Providers() []string { return []string{"anthropic", "openai", "google"} }

// New makes the connection to a model. Nothing is sent before the first question.
func New(o Options) (llm.Model, error) {
	if o.Format != "" {
		return nil, fmt.Errorf("model: unknown provider %q", o.Provider) // another provider may know no schemas
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	client := newHTTP(o.HTTP, func(next http.RoundTripper) http.RoundTripper { return &bounded{next} })
	switch o.Format {
	case "anthropic":
		return newAnthropic(o, client), nil
	case "openai":
		return newOpenAI(o, client), nil
	default:
		return newGoogle(o, client)
	}
}

// complete sets what was left out, and refuses options with which no model can be asked.
func (o *Options) complete() error {
	known := slices.Contains(Providers(), o.Provider)
	if o.Format == "" {
		o.Format = o.Provider
	}
	if !slices.Contains(Providers(), o.Format) || o.Provider == "" || known && o.Format != o.Provider {
		return fmt.Errorf("model: unknown provider %q", o.Provider)
	}
	if o.Key == "" {
		return fmt.Errorf("model: %s: %w", o.Provider, llm.ErrNoKey)
	}
	if err := checkBase(o.BaseURL); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	if o.Model == "" {
		o.Model = Defaults[o.Provider]
	}
	if o.Model == "" || !known && o.BaseURL == "" {
		return fmt.Errorf("model: %s: no model or no base URL", o.Provider)
	}
	return nil
}

// checkBase refuses addresses to which a key would be sent unencrypted.
func checkBase(base string) error {
	if base == "" {
		return nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil {
		return errors.New("the base URL is not a URL with a host and without a login")
	}
	host := u.Hostname()
	if u.Scheme == "https" || u.Scheme == "http" && (host == "127.0.0.1" || host == "::1" || host == "localhost") {
		return nil
	}
	return errors.New("the base URL does not begin with https://, and is not on this machine")
}

// newHTTP makes a client that follows no redirect. It sends requests through next, or a transport
// of its own if that is nil, and reads answers through bound.
func newHTTP(next http.RoundTripper, bound func(http.RoundTripper) http.RoundTripper) *http.Client {
	if next == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConns, transport.IdleConnTimeout = 2, 30*time.Second
		transport.MaxResponseHeaderBytes = 64 << 10
		next = transport
	}
	return &http.Client{
		Transport:     bound(next),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// connection is the HTTP client of a model.
type connection struct{ http *http.Client }

// Close closes idle connections.
func (c connection) Close() { c.http.CloseIdleConnections() }

// tidy returns the cause of a library's error, without what the provider wrote or was sent.
func tidy(err error) error {
	var status *llm.StatusError
	var network *url.Error
	switch {
	case errors.As(err, &status):
		return status
	case errors.Is(err, llm.ErrTooLarge):
		return llm.ErrTooLarge
	case errors.Is(err, llm.ErrFormat):
		return llm.ErrFormat
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &network):
		return network
	}
	return llm.ErrFormat
}

// bounded is a transport whose answers end in an error when they are too large, and for which any
// status but 200 is an error.
type bounded struct{ next http.RoundTripper }

func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, &llm.StatusError{Code: resp.StatusCode}
	}
	resp.Body = &boundedBody{resp.Body, maxAnswer}
	return resp, nil
}

func (b *bounded) CloseIdleConnections() { closeIdle(b.next) }

func closeIdle(t http.RoundTripper) {
	if t, ok := t.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, llm.ErrTooLarge
	}
	return n, err
}

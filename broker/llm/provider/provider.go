// Package provider asks the models of Anthropic, OpenAI and Google, each through
// its own library, with nothing taken from the environment.
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

// reasoning is what the models that think before they write get for that.
const reasoning = 1000

// Options say which model is asked.
type Options struct {
	Provider string // "anthropic", "openai" or "google"
	Model    string // empty: the provider's small one
	Key      string
	BaseURL  string // empty: the provider's own; https, or http on this machine
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
	if !slices.Contains(Providers(), o.Provider) {
		return nil, fmt.Errorf("model: unknown provider %q", o.Provider)
	}
	if o.Key == "" {
		return nil, fmt.Errorf("model: %s: %w", o.Provider, llm.ErrNoKey)
	}
	if err := checkBase(o.BaseURL); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if o.Model == "" {
		o.Model = Defaults[o.Provider]
	}
	client := newHTTP()
	switch o.Provider {
	case "anthropic":
		return newAnthropic(o, client), nil
	case "openai":
		return newOpenAI(o, client), nil
	default:
		return newGoogle(o, client)
	}
}

// checkBase refuses addresses over which a key would travel in the clear.
func checkBase(base string) error {
	if base == "" {
		return nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil {
		return errors.New("the base URL is not an address")
	}
	host := u.Hostname()
	if u.Scheme == "https" || u.Scheme == "http" && (host == "127.0.0.1" || host == "::1" || host == "localhost") {
		return nil
	}
	return errors.New("the base URL is not encrypted")
}

// newHTTP makes a client that follows no redirect and reads bounded answers.
func newHTTP() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.IdleConnTimeout = 2, 30*time.Second
	transport.MaxResponseHeaderBytes = 64 << 10
	return &http.Client{
		Transport:     &bounded{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// connection is what a model holds open.
type connection struct{ http *http.Client }

// Close lets go of connections that are kept for the next question.
func (c connection) Close() { c.http.CloseIdleConnections() }

// tidy takes the cause out of a library's error: what the provider wrote, and
// what was sent to it, is no part of it.
func tidy(err error) error {
	var status *llm.StatusError
	var network *url.Error
	switch {
	case errors.As(err, &status):
		return status
	case errors.Is(err, llm.ErrTooLarge):
		return llm.ErrTooLarge
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &network):
		return network
	}
	return llm.ErrFormat
}

// bounded is a transport whose answers end in an error when they are too large,
// and which takes errors of the provider for what they are.
type bounded struct{ next *http.Transport }

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

func (b *bounded) CloseIdleConnections() { b.next.CloseIdleConnections() }

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

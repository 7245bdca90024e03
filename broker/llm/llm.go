// Package llm asks a language model one question and takes one structured
// answer, straight from the host, with the person's own key.
//
// It is for decisions of the multiplexer itself, never for the agents: they reach their providers
// through the proxy. The providers' own libraries speak the wire formats. No redirect is followed.
// The answer is bounded and only text: the caller decodes it strictly.
package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Question is what a model is asked.
type Question struct {
	System string         // what it is to do
	User   string         // what it is to judge
	Schema map[string]any // JSON Schema of the answer
	Name   string         // of the schema: letters and underscores
	// MaxTokens bounds what the model may write; 0 means DefaultTokens.
	MaxTokens int
}

// DefaultTokens are enough for a word and a reason.
const DefaultTokens = 300

// Tokens is what the model may write.
func (q Question) Tokens() int64 {
	if q.MaxTokens > 0 {
		return int64(q.MaxTokens)
	}
	return DefaultTokens
}

// Model answers questions. It is safe for concurrent use.
type Model interface {
	// Ask returns the text of the model's answer. It asks once; the caller decides whether to ask
	// again, see Transient.
	Ask(ctx context.Context, q Question) (string, error)
	// Name is provider and model, "anthropic/claude-haiku-4-5".
	Name() string
	// Close closes idle connections.
	Close()
}

// Errors of asking.
var (
	// ErrNoKey means that the provider cannot be asked because there is no key.
	ErrNoKey = errors.New("there is no key for the provider")
	// ErrTooLarge means that the answer is longer than any that could be right.
	ErrTooLarge = errors.New("the answer is too large")
	// ErrFormat means that the answer is not in the provider's own format.
	ErrFormat = errors.New("the answer is not in the provider's format")
	// ErrRefused means that the model declined, or broke off.
	ErrRefused = errors.New("the model gave no complete answer")
	// ErrCut means that the answer was longer than MaxTokens.
	ErrCut = errors.New("the model's answer was cut off, because it is longer than allowed")
	// ErrBroken means that a reply did not arrive completely. Asking again can help.
	ErrBroken = errors.New("the model's answer broke off before its end")
)

// StatusError is an answer of the provider that is an error.
type StatusError struct {
	Code int
	// Said is the first line of what the provider, or the proxy before it, wrote of the cause.
	// It is not trusted. Only conversations have it: a question may be about secrets.
	Said  string
	After time.Duration // how long the provider asks to wait; 0: it does not say
	Final bool          // the provider says that asking again does not help
}

func (e *StatusError) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("the provider answered %d %s", e.Code, http.StatusText(e.Code))) // 529 has no name
	if e.Said != "" {
		text += ": " + e.Said
	}
	return text
}

// Transient reports whether asking again soon could help.
func Transient(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return !status.Final && (status.Code == http.StatusTooManyRequests || status.Code == http.StatusRequestTimeout || status.Code >= 500)
	}
	if errors.Is(err, ErrBroken) {
		return true
	}
	var passing interface{ Temporary() bool }
	if errors.As(err, &passing) && passing.Temporary() && !errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var network *url.Error
	return errors.As(err, &network) && !errors.Is(err, ErrTooLarge) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

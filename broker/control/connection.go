package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"syscall"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// ErrNotRunning means that no multiplexer serves this home.
var ErrNotRunning = errors.New("no multiplexer is running")

// RemoteError is an error with which the running multiplexer answered.
type RemoteError struct {
	Message string
	Next    string
}

func (e *RemoteError) Error() string { return e.Message }

// Hint is the next thing to do.
func (e *RemoteError) Hint() string { return e.Next }

func (c *connection) sessions(ctx context.Context) ([]broker.Session, error) {
	var out struct {
		Sessions []broker.Session `json:"sessions"`
	}
	err := c.call(ctx, http.MethodGet, "/v1/sessions", nil, &out)
	return out.Sessions, err
}

func (c *connection) pending(ctx context.Context) ([]broker.Escalation, error) {
	var out struct {
		Pending []broker.Escalation `json:"pending"`
	}
	err := c.call(ctx, http.MethodGet, "/v1/pending", nil, &out)
	return out.Pending, err
}

func (c *connection) scopes(ctx context.Context, id string) ([]broker.Scope, error) {
	var out struct {
		Scopes []broker.Scope `json:"scopes"`
	}
	err := c.call(ctx, http.MethodGet, "/v1/scopes?id="+url.QueryEscape(id), nil, &out)
	return out.Scopes, err
}

func (c *connection) grants(ctx context.Context) ([]broker.Grant, error) {
	var out struct {
		Grants []broker.Grant `json:"grants"`
	}
	err := c.call(ctx, http.MethodGet, "/v1/grants", nil, &out)
	return out.Grants, err
}

func (c *connection) revoke(ctx context.Context, number int) (broker.Grant, error) {
	var out broker.Grant
	err := c.call(ctx, http.MethodPost, "/v1/revoke", revocation{number}, &out)
	return out, err
}

func (c *connection) decide(ctx context.Context, d broker.Decision) (Decided, error) {
	var out Decided
	err := c.call(ctx, http.MethodPost, "/v1/decide", d, &out)
	return out, err
}

func (c *connection) call(ctx context.Context, method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return fmt.Errorf("ask the multiplexer: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://control"+path, &body)
	if err != nil {
		return fmt.Errorf("ask the multiplexer: %w", err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
			return ErrNotRunning
		}
		return fmt.Errorf("ask the multiplexer: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		var p problem
		if err := json.NewDecoder(resp.Body).Decode(&p); err != nil || p.Message == "" {
			return fmt.Errorf("ask the multiplexer: %s", resp.Status)
		}
		return &RemoteError{Message: p.Message, Next: p.Next}
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("ask the multiplexer: %w", err)
	}
	return nil
}

package docker

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	engine "github.com/fsouza/go-dockerclient"
)

// bound returns the library's client with every request bound to ctx.
func (c *Client) bound(ctx context.Context) *engine.Client {
	api := *c.api
	api.TLSConfig = nil // the dialer does TLS
	api.HTTPClient = &http.Client{Transport: boundTransport{ctx, c.base}}
	api.Dialer = boundDialer{ctx, c.dial}
	return &api
}

// boundTransport binds every request to one context, because some of the library's
// calls accept no context.
type boundTransport struct {
	ctx  context.Context
	base http.RoundTripper
}

func (t boundTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.WithContext(t.ctx)
	if repeatable(r) {
		r.Header = r.Header.Clone()
		r.Header["Idempotency-Key"] = nil // for http.Transport, which does not send it
	}
	resp, err := t.base.RoundTrip(r)
	if err == nil && (r.Method == http.MethodGet || resp.ContentLength > 0) {
		resp.Body = drained{resp.Body}
	}
	return resp, err
}

// repeatable reports whether a POST request may be sent again after it was sent on an idle connection
// that turned out to be dead: creating an exec and waiting do no harm twice. http.Transport sends GET
// requests again anyway.
func repeatable(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/exec") || strings.HasSuffix(r.URL.Path, "/wait")
}

// drained is the body of an answer that reads the rest when it is closed. The library may not read
// all of it, and a connection is kept only if nothing is left on it.
type drained struct{ io.ReadCloser }

func (d drained) Close() error {
	_, _ = io.CopyN(io.Discard, d.ReadCloser, headLimit)
	return d.ReadCloser.Close()
}

// placeholder is the host of requests. The dialer ignores it, because it knows where the engine is.
const placeholder = "docker"

// getRequest returns a GET request to the engine.
func (c *Client) getRequest(ctx context.Context, path string, query url.Values) *http.Request {
	request := &http.Request{
		Method: http.MethodGet,
		Host:   placeholder,
		URL:    &url.URL{Scheme: "http", Host: placeholder, Path: path, RawQuery: query.Encode()},
		Header: http.Header{},
	}
	if c.dial.tls != nil {
		request.URL.Scheme = "https"
	}
	return request.WithContext(ctx)
}

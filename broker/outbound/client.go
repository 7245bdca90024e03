package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/netguard"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

// Limits of a request.
const (
	MaxRedirects   = 5
	MaxBody        = 5 << 20 // bytes, decompressed; the rest is not read
	DefaultTimeout = 30 * time.Second
	MaxTimeout     = time.Minute
	maxHeaders     = 64 << 10
)

// userAgent is the User-Agent of every request.
const userAgent = "ironcurtain-mux (fetch)"

// Client makes requests. The zero value reaches the public web.
type Client struct {
	// Private lists the hosts, as "name" or "name:port", that may have private or loopback addresses.
	Private []string
	Dialer  netguard.Dialer
	// Roots are the trusted certificate authorities; nil means those of the system.
	Roots *x509.CertPool
}

// Request is a GET.
type Request struct {
	URL     string            // in the policy's spelling
	Headers map[string]string // further headers, sent only to the origin of URL
	Timeout time.Duration     // for all hops together; 0 means DefaultTimeout
}

// Answer is the final response.
type Answer struct {
	URL       string            // of the last hop
	Status    int               // HTTP status
	Headers   map[string]string // content type and length, date and entity tag; names in lower case
	Body      []byte
	Truncated bool // the body was longer than Body
	Redirects int  // how many were followed
}

// Judge is called before a redirect is followed, with the URL exactly as it will be requested. An error
// ends the request.
type Judge func(ctx context.Context, url string, hop int) error

// RedirectError is a redirect that was not followed.
type RedirectError struct {
	From, To string
	Err      error
}

func (e *RedirectError) Error() string {
	return fmt.Sprintf("%s redirects to %s, which was not followed: %v", e.From, e.To, e.Err)
}
func (e *RedirectError) Unwrap() error { return e.Err }

// Get makes the request. The caller has judged the first URL; Get calls judge for each further one.
func (c *Client) Get(ctx context.Context, r Request, judge Judge) (Answer, error) {
	timeout := r.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, min(timeout, MaxTimeout), fmt.Errorf("no complete answer within %v", min(timeout, MaxTimeout)))
	defer cancel()
	first, err := urlx.Parse(r.URL)
	if err != nil {
		return Answer{}, err
	}
	at := first
	for hop := 0; ; hop++ {
		headers := r.Headers
		if at.Target() != first.Target() {
			headers = nil // they are only for the first origin
		}
		answer, next, err := c.hop(ctx, at, headers)
		if err != nil {
			return Answer{}, plain(ctx, err)
		}
		answer.Redirects = hop
		if next == "" {
			return answer, nil
		}
		to, err := urlx.Parse(next)
		if err != nil {
			return Answer{}, &RedirectError{at.String(), strconv.Quote(next), err}
		}
		if hop == MaxRedirects {
			return Answer{}, &RedirectError{at.String(), to.String(), fmt.Errorf("there were %d redirects before it", MaxRedirects)}
		}
		if at.Scheme == "https" && to.Scheme == "http" {
			return Answer{}, &RedirectError{at.String(), to.String(), errors.New("it leads from https to http")}
		}
		if err := judge(ctx, to.String(), hop+1); err != nil {
			return Answer{}, &RedirectError{at.String(), to.String(), err}
		}
		at = to
	}
}

// plain returns an error without the parts that repeat the request, or why ctx has ended.
func plain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// hop makes one request. If the answer is a redirect, next is its URL.
func (c *Client) hop(ctx context.Context, u urlx.URL, headers map[string]string) (a Answer, next string, err error) {
	addrs, err := c.addresses(ctx, u)
	if err != nil {
		return a, "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return a, "", err
	}
	for name, v := range headers {
		request.Header.Set(name, v)
	}
	request.Header.Set("User-Agent", userAgent)
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return c.Dialer.Dial(ctx, addrs, uint16(u.Port))
		},
		TLSClientConfig:        &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12},
		DisableKeepAlives:      true, // each hop makes its own connection, to its own checked addresses
		MaxResponseHeaderBytes: maxHeaders,
	}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return a, "", fmt.Errorf("request to %s: %w", u.Host, err)
	}
	defer func() { _ = response.Body.Close() }()
	if where := response.Header.Get("Location"); where != "" && redirects(response.StatusCode) {
		return a, relative(request.URL, where), nil
	}
	a = Answer{URL: u.String(), Status: response.StatusCode, Headers: map[string]string{}}
	for _, name := range []string{"Content-Type", "Content-Length", "Last-Modified", "Etag"} {
		if v := response.Header.Get(name); v != "" {
			a.Headers[strings.ToLower(name)] = v
		}
	}
	a.Body, err = io.ReadAll(io.LimitReader(response.Body, MaxBody+1))
	if a.Truncated = len(a.Body) > MaxBody; a.Truncated {
		a.Body = a.Body[:MaxBody]
	}
	return a, "", err
}

func redirects(status int) bool {
	return slices.Contains([]int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect}, status)
}

// relative resolves the URL of a Location header. It returns an invalid one unchanged; Get refuses it.
func relative(base *url.URL, where string) string {
	to, err := url.Parse(where)
	if err != nil {
		return where
	}
	return base.ResolveReference(to).String()
}

// addresses returns the addresses of the host, looked up once and checked.
func (c *Client) addresses(ctx context.Context, u urlx.URL) ([]netip.Addr, error) {
	private := slices.Contains(c.Private, u.Host) || slices.Contains(c.Private, net.JoinHostPort(u.Host, strconv.Itoa(u.Port)))
	return c.Dialer.Addresses(ctx, u.Host, private)
}

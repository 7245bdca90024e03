package scripted

import (
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is a running provider.
type Server struct {
	url    string
	keys   map[string]string // by provider
	logins map[string]*login // by provider
	pool   *x509.CertPool
	pem    []byte
	delay  time.Duration
	log    requestLog
	http   *http.Server
	served chan error // must-deliver, one value: how serving ended
	stop   func() error
	unhook func() bool
}

// Option changes how a server behaves.
type Option func(*Server)

// WithDelay sets the pause between two pieces of a streamed answer; zero means
// none. Without this option it is 8 ms, which looks like a fast model.
func WithDelay(d time.Duration) Option {
	return func(s *Server) { s.delay = d }
}

// Start begins to serve on a free port of 127.0.0.1 with a fresh certificate
// authority and fresh keys. The server ends when ctx does or when Close is
// called, whichever comes first; Close must be called in either case.
func Start(ctx context.Context, options ...Option) (*Server, error) {
	s := &Server{
		keys:   newKeys(),
		logins: newLogins(),
		delay:  8 * time.Millisecond,
		served: make(chan error, 1),
	}
	for _, o := range options {
		o(s)
	}
	authority, err := newAuthority()
	if err != nil {
		return nil, fmt.Errorf("start scripted provider: %w", err)
	}
	s.pool, s.pem = authority.pool, authority.pem
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start scripted provider: %w", err)
	}
	s.url = "https://" + listener.Addr().String()
	s.http = &http.Server{
		Handler:           http.HandlerFunc(s.serve),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{authority.leaf}, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0), // it would be printed on a screen that is drawn
	}
	ctx, cancel := context.WithCancel(ctx)
	s.http.BaseContext = func(net.Listener) context.Context { return ctx }
	s.stop = sync.OnceValue(func() error {
		cancel()
		return s.shutDown()
	})
	go func() { s.served <- s.http.ServeTLS(listener, "", "") }()
	s.unhook = context.AfterFunc(ctx, func() { _ = s.stop() })
	return s, nil
}

// How long requests under way may take to notice that the server ends.
const graceful = time.Second

// shutDown waits for the requests under way, whose contexts have ended already, closes the
// connections of those that do not end in time, and waits until serving has stopped.
func (s *Server) shutDown() error {
	ctx, cancel := context.WithTimeout(context.Background(), graceful)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("close scripted provider: %w", err)
	}
	return nil
}

// URL is where the provider answers: https://127.0.0.1:PORT.
func (s *Server) URL() string { return s.url }

// Keys are the only keys that are accepted, by provider: "anthropic" in the
// header x-api-key, "openai" as a bearer token, "google" in x-goog-api-key. Beside
// them there are logins.
func (s *Server) Keys() map[string]string { return maps.Clone(s.keys) }

// CAPool has the one authority that has signed the provider's certificate. The certificate is valid
// for 127.0.0.1, localhost and the names of the providers whose wire format is spoken, so a client
// may use the provider's own name.
func (s *Server) CAPool() *x509.CertPool { return s.pool }

// CAPEM is that authority's certificate as PEM.
func (s *Server) CAPEM() []byte { return s.pem }

// Requests returns the latest requests, the oldest first, at most a thousand.
func (s *Server) Requests() []Request { return s.log.all() }

// Close ends all connections and waits until the server has stopped. It may
// be called more than once.
func (s *Server) Close() error {
	s.unhook()
	return s.stop()
}

// The largest body that is read, as large as the provider's own limit.
const maxBody = 32 << 20

// serve is the life of one request: known path, right method, right key,
// bounded body, then the endpoint. Every request is logged once, at its end.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	recorder := &statusWriter{ResponseWriter: w}
	entry := Request{At: time.Now(), Method: r.Method, Host: r.Host, Path: r.URL.RequestURI(), Header: withoutKeys(r.Header)}
	defer func() {
		entry.Status = recorder.status
		s.log.add(entry)
	}()
	w.Header().Set("Request-Id", "req_"+rand.Text())
	e, known := s.endpoint(r.URL.Path)
	entry.Provider, entry.KeyOK = e.wire.provider, s.keyOK(e.wire, r.Header)
	switch {
	case !known:
		e.wire.refuse(recorder, http.StatusNotFound, "Not found")
		return
	case r.Method != e.method:
		e.wire.refuse(recorder, http.StatusMethodNotAllowed, "Method Not Allowed")
		return
	case !entry.KeyOK && !e.open:
		e.wire.refuse(recorder, http.StatusUnauthorized, e.wire.badKey)
		return
	}
	body, err := readBody(r)
	switch {
	case errors.Is(err, errTooLarge):
		e.wire.refuse(recorder, http.StatusRequestEntityTooLarge, "Request exceeds the maximum size")
	case err != nil:
		e.wire.refuse(recorder, http.StatusBadRequest, "the request body cannot be read")
	default:
		e.answer(recorder, r, body, &entry)
	}
}

var errTooLarge = errors.New("the body is too large")

// readBody reads a body, unpacks it when it is compressed, and bounds both.
func readBody(r *http.Request) ([]byte, error) {
	reader := io.LimitReader(r.Body, maxBody+1)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(reader)
		if err != nil {
			return nil, err
		}
		reader = io.LimitReader(unpacked, maxBody+1)
	}
	body, err := io.ReadAll(reader)
	if err == nil && len(body) > maxBody {
		err = errTooLarge
	}
	return body, err
}

// writeJSON writes v as the whole answer. An error is ignored: the client has gone away.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// statusWriter remembers the status for the log.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection, to flush it.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

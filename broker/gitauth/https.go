package gitauth

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// lifetime is how long a gate's certificate is valid. A grant may use a gate for a long time.
const lifetime = 30 * 24 * time.Hour

// OpenHTTPS makes the gate for a call to an HTTPS remote. dir is a directory of the call, in which a
// sandbox may read only the file in Readable: the certificate that the gate presents to git in place
// of the host's. The gate verifies the host's certificate with this machine's authorities, or with
// those that the person's git configuration names for the remote. The gate ends with ctx, and must be
// closed.
func OpenHTTPS(ctx context.Context, dir string, call Call, credential Credential) (*Gate, error) {
	if call.Remote.Scheme != "https" {
		return nil, errScheme
	}
	roots, err := personsAuthorities(ctx, call.Remote.String())
	if err != nil {
		return nil, err
	}
	proxy, err := personsProxy(ctx, call.Remote.String())
	if err != nil {
		return nil, err
	}
	certificate, public, err := newCertificate(call.Remote.Host)
	if err != nil {
		return nil, fault.Wrap("make a certificate", err, "")
	}
	g, ctx, err := open(ctx, dir, call)
	if err != nil {
		return nil, err
	}
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, public, 0o600); err != nil {
		g.stop()
		_ = g.listen.Close()
		return nil, fault.Wrap("prepare a git call", err, "check that you can write to "+dir)
	}
	g.env["GIT_SSL_CAINFO"], g.readable = ca, []string{ca}
	transport := &http.Transport{
		Proxy: proxy, TLSHandshakeTimeout: greetLimit, DisableCompression: true,
		DialContext:     (&net.Dialer{Timeout: greetLimit}).DialContext,
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}
	accepted := &handedOver{conns: make(chan net.Conn), closed: make(chan struct{}), address: g.listen.Addr()}
	server := &http.Server{
		Handler: g.forward(transport, credential), ReadHeaderTimeout: greetLimit, IdleTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx },
		TLSConfig:   &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}},
		ErrorLog:    log.New(io.Discard, "", 0), // only errors of git in the sandbox
	}
	served := make(chan struct{}) // closed when the server has ended
	go func() {
		defer close(served)
		_ = server.ServeTLS(accepted, "", "") // until Close
	}()
	g.carry = accepted.hand
	g.release = func() {
		_ = server.Close()
		<-served
		transport.CloseIdleConnections()
		_ = os.Remove(ca)
	}
	g.serve(ctx)
	return g, nil
}

// forward returns the proxy. It forwards the requests that git needs for the call, with the
// credential, and refuses all others.
func (g *Gate) forward(transport http.RoundTripper, credential Credential) http.Handler {
	base := "/" + strings.TrimSuffix(repository(g.call.Remote), "/") + "/"
	service, host := g.call.service(), authority(g.call.Remote)
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL = &url.URL{Scheme: "https", Host: host, Path: r.In.URL.Path, RawPath: r.In.URL.RawPath, RawQuery: r.In.URL.RawQuery}
			r.Out.Host = hostPort(g.call.Remote)
			r.Out.Header, r.Out.Trailer = http.Header{}, nil
			for _, name := range []string{"Accept", "Accept-Encoding", "Content-Type", "Content-Encoding", "Git-Protocol", "User-Agent"} {
				if v := r.In.Header.Get(name); v != "" {
					r.Out.Header.Set(name, v)
				}
			}
			r.Out.SetBasicAuth(credential.User, credential.reveal())
		},
		ModifyResponse: func(r *http.Response) error {
			r.Header.Del("Set-Cookie")
			r.Header.Del("Www-Authenticate")
			switch r.StatusCode {
			case http.StatusUnauthorized: // so that git in the sandbox does not look for a login itself
				r.StatusCode, r.Status = http.StatusForbidden, ""
				fallthrough
			case http.StatusForbidden:
				g.refuse(fault.New("check that the login may do this, or log in again", "%s refused the login (%s)", g.call.Remote.Host, credential))
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				g.refuse(fault.Wrap("reach "+g.call.Remote.Host, err, "check that git reaches this host from this machine"))
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.Method + " " + r.RequestURI
		if asked != http.MethodGet+" "+base+"info/refs?service="+service && asked != http.MethodPost+" "+base+service {
			g.refuse(fmt.Errorf("git in the sandbox asked %s for %.200q, which was not approved", g.call.Remote.Host, asked))
			http.Error(w, "this request was not approved", http.StatusForbidden)
			return
		}
		if g.permitted() == nil { // the connection is about to be closed
			http.Error(w, errNotPermitted.Error(), http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

// handedOver is a listener of connections that another listener has accepted.
type handedOver struct {
	conns   chan net.Conn // unbuffered; nothing is dropped
	closed  chan struct{}
	address net.Addr
}

// hand gives a connection to the server, and waits until the connection has ended.
func (h *handedOver) hand(ctx context.Context, conn net.Conn) {
	ended := make(chan struct{})
	select {
	case h.conns <- &endingConn{Conn: conn, ended: ended}:
		<-ended
	case <-ctx.Done():
		_ = conn.Close()
	case <-h.closed:
		_ = conn.Close()
	}
}

func (h *handedOver) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close is called once, by the server.
func (h *handedOver) Close() error {
	close(h.closed)
	return nil
}

func (h *handedOver) Addr() net.Addr { return h.address }

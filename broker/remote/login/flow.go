package login

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Request is the person's wish to log in.
type Request struct {
	Address  string // of the MCP server
	ClientID string // of this program at the authorization server; if "", the program registers there
	Scope    string // "" means the scope that the server asks for
	Port     int    // of this machine, for the answer; 0 means any
	// Show is called with the address at which the person logs in.
	Show func(address string)
}

// Login logs the person in and keeps the tokens. It waits for the person until ctx ends.
func (s *Store) Login(ctx context.Context, r Request) error {
	at, err := newSite(r.Address)
	if err != nil {
		return err
	}
	defer at.client.CloseIdleConnections()
	p, err := at.find(ctx)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", r.Port))
	if err != nil {
		return fmt.Errorf("wait for the answer: %w", err)
	}
	answer := listen(l, p)
	defer answer.close()
	who := client{ID: r.ClientID}
	switch {
	case who.ID != "":
	case p.register == "":
		return fault.New(`register this program there and write its id to "oauth": {"clientId": …}`, "the authorization server does not let programs register themselves")
	default:
		if who, err = at.registerClient(ctx, p, answer.address); err != nil {
			return err
		}
	}
	if r.Scope != "" {
		p.scope = r.Scope
	}
	verifier := rand.Text() + rand.Text() // PKCE wants at least 43 characters
	r.Show(p.authorizationURL(who, answer, verifier))
	code, err := answer.wait(ctx)
	if err != nil {
		return err
	}
	made := saved{Server: r.Address, Resource: p.resource, Endpoint: p.token, Client: who}
	form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {answer.address}, "code_verifier": {verifier}}
	if err := at.grant(ctx, &made, form); err != nil {
		return fmt.Errorf("get the token: %w", err)
	}
	return s.keep(ctx, made)
}

// authorizationURL returns the address at which the person logs in.
func (p *authorization) authorizationURL(who client, a *answer, verifier string) string {
	u, err := url.Parse(p.authorize)
	if err != nil {
		return "" // cannot happen: authorizer has parsed the address
	}
	proof := sha256.Sum256([]byte(verifier))
	q := u.Query()
	q.Set("response_type", "code")
	q.Set("client_id", who.ID)
	q.Set("redirect_uri", a.address)
	q.Set("state", a.state)
	q.Set("code_challenge", base64.RawURLEncoding.EncodeToString(proof[:]))
	q.Set("code_challenge_method", "S256")
	q.Set("resource", p.resource)
	if p.scope != "" {
		q.Set("scope", p.scope)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// answer waits on a port of this machine for the answer of the authorization server, which the
// person's browser delivers.
type answer struct {
	from    *authorization
	state   string
	address string
	server  *http.Server
	served  chan struct{}
	got     chan outcome // has room for one: the first is kept, later ones are dropped
}

type outcome struct {
	code string
	err  error
}

func listen(l net.Listener, p *authorization) *answer {
	a := &answer{
		from: p, state: rand.Text() + rand.Text(), address: fmt.Sprintf("http://%s/callback", l.Addr()),
		served: make(chan struct{}), got: make(chan outcome, 1),
	}
	a.server = &http.Server{Handler: a, ReadTimeout: requestTime, WriteTimeout: requestTime, MaxHeaderBytes: 64 << 10}
	go func() {
		defer close(a.served)
		_ = a.server.Serve(l) // until close
	}()
	return a
}

func (a *answer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if a.server.Shutdown(ctx) != nil { // Shutdown waits until the browser has its page
		_ = a.server.Close()
	}
	<-a.served
}

// wait waits for the code, and returns it.
func (a *answer) wait(ctx context.Context) (string, error) {
	select {
	case got := <-a.got:
		return got.code, got.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// ServeHTTP receives the answer. It refuses requests without the right state, and continues to wait.
func (a *answer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if r.Method != http.MethodGet || r.URL.Path != "/callback" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(a.state)) != 1 {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, "This is not the answer to the login that ironcurtain-mux waits for.\n")
		return
	}
	got := a.read(q)
	select {
	case a.got <- got:
	default: // there was an answer already
	}
	_, _ = io.WriteString(w, "ironcurtain-mux has the answer. You can close this page and go back to the terminal.\n")
}

// read returns the outcome in an answer with the right state.
func (a *answer) read(q url.Values) outcome {
	switch issuer := q.Get("iss"); {
	case issuer != "" && issuer != a.from.issuer || issuer == "" && a.from.names:
		return outcome{err: fmt.Errorf("the answer comes from %.200q instead of %.200q", issuer, a.from.issuer)}
	case q.Get("error") != "":
		return outcome{err: fmt.Errorf("the login was refused: %.300q", strings.TrimSpace(q.Get("error")+" "+q.Get("error_description")))}
	case q.Get("code") == "":
		return outcome{err: errors.New("the answer has no code")}
	}
	return outcome{code: q.Get("code")}
}

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

// Request is a login that the person wants to make.
type Request struct {
	Address  string // of the MCP server
	ClientID string // by which the authorization server knows this program; empty: it is introduced
	Scope    string // empty: what the server asks for
	Port     int    // of this machine, to which the answer comes; 0: any
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
		return fault.New(`register this program there and write its id to "oauth": {"clientId": …}`, "the authorization server does not let programs introduce themselves")
	default:
		if who, err = at.introduce(ctx, p, answer.address); err != nil {
			return err
		}
	}
	if r.Scope != "" {
		p.scope = r.Scope
	}
	verifier := rand.Text() + rand.Text() // 43 characters at least
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
func (p *place) authorizationURL(who client, a *answer, verifier string) string {
	u, err := url.Parse(p.authorize)
	if err != nil {
		return "" // it was parsed before
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

// answer waits on a port of this machine for the answer of the authorization server, which
// the person's browser brings.
type answer struct {
	place   *place
	state   string
	address string
	server  *http.Server
	served  chan struct{}
	got     chan outcome // must-deliver, room for the first one
}

type outcome struct {
	code string
	err  error
}

func listen(l net.Listener, p *place) *answer {
	a := &answer{
		place: p, state: rand.Text() + rand.Text(), address: fmt.Sprintf("http://%s/callback", l.Addr()),
		served: make(chan struct{}), got: make(chan outcome, 1),
	}
	a.server = &http.Server{Handler: a, ReadTimeout: requestTime, WriteTimeout: requestTime, MaxHeaderBytes: 64 << 10}
	go func() {
		defer close(a.served)
		_ = a.server.Serve(l) // it ends with close
	}()
	return a
}

func (a *answer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if a.server.Shutdown(ctx) != nil { // lets the browser have its page
		_ = a.server.Close()
	}
	<-a.served
}

// wait returns the code.
func (a *answer) wait(ctx context.Context) (string, error) {
	select {
	case got := <-a.got:
		return got.code, got.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// ServeHTTP takes the answer. It refuses a request without the right state, and the login
// goes on.
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

// read returns what an answer with the right state says.
func (a *answer) read(q url.Values) outcome {
	switch issuer := q.Get("iss"); {
	case issuer != "" && issuer != a.place.issuer || issuer == "" && a.place.names:
		return outcome{err: fmt.Errorf("the answer comes from %.200q instead of %.200q", issuer, a.place.issuer)}
	case q.Get("error") != "":
		return outcome{err: fmt.Errorf("the login was refused: %.300q", strings.TrimSpace(q.Get("error")+" "+q.Get("error_description")))}
	case q.Get("code") == "":
		return outcome{err: errors.New("the answer has no code")}
	}
	return outcome{code: q.Get("code")}
}

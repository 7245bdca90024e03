package login

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service is an MCP server that wants a login, with its authorization server.
type service struct {
	*httptest.Server
	t       *testing.T
	instead map[string]http.HandlerFunc // by path, what it does in place of what it should
	change  func(path string, document map[string]any)

	mu       sync.Mutex
	redirect string     // of the program that has registered itself
	asked    url.Values // in the browser
	tokens   int        // that were given
	renewals int
	life     int // seconds
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{t: t, instead: map[string]http.HandlerFunc{}, change: func(string, map[string]any) {}, life: 3600}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	instead := s.instead[r.URL.Path]
	s.mu.Unlock()
	if instead != nil {
		instead(w, r)
		return
	}
	switch r.URL.Path {
	case "/mcp":
		w.Header().Set("WWW-Authenticate", `Basic realm="x", Bearer resource_metadata="`+s.URL+`/meta", scope="read"`)
		w.WriteHeader(http.StatusUnauthorized)
	case "/meta":
		s.document(w, r, map[string]any{"resource": s.URL + "/mcp", "authorization_servers": []string{s.URL + "/tenant"}})
	case "/.well-known/oauth-authorization-server/tenant":
		s.document(w, r, map[string]any{
			"issuer": s.URL + "/tenant", "authorization_endpoint": s.URL + "/authorize?lang=en", "token_endpoint": s.URL + "/token",
			"registration_endpoint": s.URL + "/register", "code_challenge_methods_supported": []string{"S256"},
		})
	case "/register":
		s.register(w, r)
	case "/token":
		s.token(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *service) document(w http.ResponseWriter, r *http.Request, d map[string]any) {
	s.change(r.URL.Path, d)
	_ = json.NewEncoder(w).Encode(d)
}

func (s *service) register(w http.ResponseWriter, r *http.Request) {
	var who struct {
		Redirects []string `json:"redirect_uris"`
	}
	if json.NewDecoder(r.Body).Decode(&who) != nil || len(who.Redirects) != 1 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.redirect = who.Redirects[0]
	s.mu.Unlock()
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"client_id":"program-1"}`)
}

// token gives tokens for the right code and proof, or for the latest refresh token.
func (s *service) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	proof := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	good := r.FormValue("client_id") == "program-1" && r.FormValue("resource") == s.URL+"/mcp"
	switch r.FormValue("grant_type") {
	case "authorization_code":
		good = good && r.FormValue("code") == "the-code" && r.FormValue("redirect_uri") == s.redirect &&
			base64.RawURLEncoding.EncodeToString(proof[:]) == s.asked.Get("code_challenge")
	case "refresh_token":
		s.renewals++
		good = good && r.FormValue("refresh_token") == fmt.Sprint("refresh-", s.tokens)
	}
	if !good {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"invalid_grant","error_description":"it has expired"}`)
		return
	}
	s.tokens++
	fmt.Fprintf(w, `{"access_token":"access-%d","token_type":"bearer","expires_in":%d,"refresh_token":"refresh-%d"}`, s.tokens, s.life, s.tokens)
}

// browser is the person's browser: it looks at the address and brings this answer, with
// the right state unless the answer has one.
func (s *service) browser(answer url.Values) func(string) {
	return func(address string) {
		u, err := url.Parse(address)
		if err != nil {
			s.t.Error(err)
			return
		}
		s.mu.Lock()
		s.asked = u.Query()
		s.mu.Unlock()
		q := url.Values{"state": {u.Query().Get("state")}}
		for name, value := range answer {
			q[name] = value
		}
		r, err := http.Get(u.Query().Get("redirect_uri") + "?" + q.Encode())
		if err != nil {
			s.t.Error(err)
			return
		}
		_ = r.Body.Close()
	}
}

func (s *service) login(home string, show func(string)) (*Store, error) {
	store := NewStore(home, "board", s.URL+"/mcp")
	ctx, cancel := context.WithTimeoutCause(s.t.Context(), 30*time.Second, errors.New("nobody has logged in"))
	defer cancel()
	return store, store.Login(ctx, Request{Address: s.URL + "/mcp", Show: show})
}

func TestLogin(t *testing.T) {
	s, home := newService(t), t.TempDir()
	store := NewStore(home, "board", s.URL+"/mcp")
	if token, err := store.Token(t.Context()); token != "" || err != nil {
		t.Errorf("before: %q, %v", token, err)
	}
	var needed *NeededError
	if _, err := store.Renew(t.Context(), ""); !errors.As(err, &needed) || !strings.Contains(err.Error(), "ironcurtain-mux servers login board") {
		t.Errorf("before: %v", err)
	}
	if _, err := s.login(home, s.browser(url.Values{"code": {"the-code"}})); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"response_type": "code", "client_id": "program-1", "code_challenge_method": "S256", "resource": s.URL + "/mcp", "scope": "read", "lang": "en",
	} {
		if got := s.asked.Get(name); got != want {
			t.Errorf("%s=%q, want %q", name, got, want)
		}
	}
	if token, err := store.Token(t.Context()); token != "access-1" || err != nil {
		t.Errorf("%q, %v", token, err)
	}
	for path, want := range map[string]fs.FileMode{"logins": 0o700, "logins/board.json": 0o600, "logins/board.json.lock": 0o600} {
		if info, err := os.Stat(filepath.Join(home, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	// The same name at another address has no login, whoever changes the configuration.
	if token, err := NewStore(home, "board", "https://evil.example/mcp").Token(t.Context()); token != "" || err != nil {
		t.Errorf("elsewhere: %q, %v", token, err)
	}
	for _, want := range []bool{true, false} {
		if was, err := store.Logout(t.Context()); was != want || err != nil {
			t.Errorf("%v, %v", was, err)
		}
	}
	if token, err := store.Token(t.Context()); token != "" || err != nil {
		t.Errorf("after: %q, %v", token, err)
	}
}

// A token that ends soon, or that the server rejects, is renewed once, whoever asks.
func TestRenewal(t *testing.T) {
	s, home := newService(t), t.TempDir()
	store, err := s.login(home, s.browser(url.Values{"code": {"the-code"}}))
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		other := NewStore(home, "board", s.URL+"/mcp") // as another process would have it
		group.Go(func() {
			if token, err := other.Renew(t.Context(), "access-1"); token != "access-2" || err != nil {
				t.Errorf("%q, %v", token, err)
			}
		})
	}
	group.Wait()
	l, err := store.read()
	if err != nil {
		t.Fatal(err)
	}
	l.Due = time.Now().Add(-time.Second)
	if err := store.write(*l); err != nil {
		t.Fatal(err)
	}
	if token, err := store.Token(t.Context()); token != "access-3" || err != nil || s.renewals != 2 {
		t.Errorf("%q, %v, %d renewals", token, err, s.renewals)
	}
	// While the authorization server is away, a token that is still good is used.
	s.mu.Lock()
	s.instead["/token"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	s.mu.Unlock()
	l, err = store.read()
	if err != nil {
		t.Fatal(err)
	}
	l.Due = time.Now().Add(-time.Second)
	if err := store.write(*l); err != nil {
		t.Fatal(err)
	}
	if token, err := store.Token(t.Context()); token != "access-3" || err != nil {
		t.Errorf("%q, %v", token, err)
	}
	var needed *NeededError
	if _, err := store.Renew(t.Context(), "access-3"); err == nil || errors.As(err, &needed) || !strings.Contains(err.Error(), "502") {
		t.Errorf("away: %v", err)
	}
	// A login that is over is not tried again.
	s.mu.Lock()
	delete(s.instead, "/token")
	s.tokens = 100
	s.mu.Unlock()
	before := s.renewals
	for range 3 {
		if _, err := store.Renew(t.Context(), "access-3"); !errors.As(err, &needed) {
			t.Errorf("over: %v", err)
		}
	}
	if s.renewals != before+1 {
		t.Errorf("%d renewals of a login that is over", s.renewals-before)
	}
	if _, err := store.Token(t.Context()); !errors.As(err, &needed) || strings.Contains(err.Error(), "refresh-") {
		t.Errorf("over: %v", err)
	}
}

// A token that lives for a short time is not renewed for each request.
func TestShortLife(t *testing.T) {
	s, home := newService(t), t.TempDir()
	s.life = 40
	store, err := s.login(home, s.browser(url.Values{"code": {"the-code"}}))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if token, err := store.Token(t.Context()); token != "access-1" || err != nil || s.renewals != 0 {
			t.Errorf("%q, %v", token, err)
		}
	}
}

// An answer with a wrong state is none: nothing is asked for with its code, and the login
// goes on.
func TestWrongState(t *testing.T) {
	s, home := newService(t), t.TempDir()
	_, err := s.login(home, func(address string) {
		s.browser(url.Values{"code": {"evil"}, "state": {"guessed"}})(address)
		s.browser(url.Values{"code": {"evil"}, "state": {""}})(address)
		s.browser(url.Values{"code": {"the-code"}})(address)
	})
	if err != nil || s.tokens != 1 {
		t.Errorf("%v, %d tokens", err, s.tokens)
	}
}

// Whatever the servers answer, the login ends with a clear line and nothing is kept.
func TestLoginRefused(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
	}
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	floods := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); err != nil {
				return
			}
		}
	}
	const authorizer = "/.well-known/oauth-authorization-server/tenant"
	for name, c := range map[string]struct {
		instead map[string]http.HandlerFunc
		change  map[string]any // of the document with the first member
		path    string
		answer  url.Values
		why     string
	}{
		"denied":             {answer: url.Values{"error": {"access_denied"}, "error_description": {"not \x1b[31mtoday"}}, why: `"access_denied not \x1b[31mtoday"`},
		"no code":            {answer: url.Values{}, why: "no code"},
		"another issuer":     {answer: url.Values{"code": {"the-code"}, "iss": {"https://evil.example"}}, why: "https://evil.example"},
		"wrong code":         {answer: url.Values{"code": {"other"}}, why: "invalid_grant it has expired"},
		"no login is wanted": {instead: map[string]http.HandlerFunc{"/mcp": says("{}")}, why: "does not ask for a login"},
		"redirects":          {instead: map[string]http.HandlerFunc{"/mcp": http.RedirectHandler(other.URL, http.StatusFound).ServeHTTP}, why: "does not ask for a login"},
		"no metadata":        {instead: map[string]http.HandlerFunc{"/meta": status(404)}, why: "404"},
		"metadata redirect":  {instead: map[string]http.HandlerFunc{"/meta": http.RedirectHandler(other.URL, http.StatusFound).ServeHTTP}, why: "redirect"},
		"metadata elsewhere": {instead: map[string]http.HandlerFunc{"/mcp": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+other.URL+`"`)
			w.WriteHeader(401)
		}}, why: "at another host"},
		"metadata flood":        {instead: map[string]http.HandlerFunc{"/meta": floods}, why: "too long"},
		"metadata rubbish":      {instead: map[string]http.HandlerFunc{"/meta": says("{]")}, why: "not the expected JSON"},
		"of another server":     {path: "/meta", change: map[string]any{"resource": "https://evil.example/mcp"}, why: `for another server, "https://evil.example/mcp"`},
		"of a path beside":      {path: "/meta", change: map[string]any{"resource": "PLACE/mc"}, why: "for another server"},
		"nobody to log in at":   {path: "/meta", change: map[string]any{"authorization_servers": []string{}}, why: "names no authorization server"},
		"an http authorizer":    {path: "/meta", change: map[string]any{"authorization_servers": []string{"http://evil.example"}}, why: "the address must use https"},
		"a metadata service":    {path: "/meta", change: map[string]any{"authorization_servers": []string{"https://169.254.169.254"}}, why: "metadata service"},
		"no authorizer":         {instead: map[string]http.HandlerFunc{authorizer: status(404)}, why: "404"},
		"authorizer flood":      {instead: map[string]http.HandlerFunc{authorizer: floods}, why: "too long"},
		"another authorizer":    {path: authorizer, change: map[string]any{"issuer": "https://evil.example"}, why: `says that it is "https://evil.example"`},
		"no proof":              {path: authorizer, change: map[string]any{"code_challenge_methods_supported": []string{"plain"}}, why: "PKCE"},
		"an odd address":        {path: authorizer, change: map[string]any{"authorization_endpoint": "javascript:alert(1)"}, why: "authorization endpoint"},
		"no introduction":       {path: authorizer, change: map[string]any{"registration_endpoint": ""}, why: "does not let programs register themselves"},
		"introduction refused":  {instead: map[string]http.HandlerFunc{"/register": status(403)}, why: "403"},
		"introduction rubbish":  {instead: map[string]http.HandlerFunc{"/register": says("{}")}, why: "has no client id"},
		"answer without issuer": {path: authorizer, change: map[string]any{"authorization_response_iss_parameter_supported": true}, answer: url.Values{"code": {"the-code"}}, why: "comes from"},
		"token redirect":        {instead: map[string]http.HandlerFunc{"/token": http.RedirectHandler(other.URL, http.StatusTemporaryRedirect).ServeHTTP}, answer: url.Values{"code": {"the-code"}}, why: "redirect"},
		"another kind":          {instead: map[string]http.HandlerFunc{"/token": says(`{"access_token":"x","token_type":"mac"}`)}, answer: url.Values{"code": {"the-code"}}, why: "only Bearer"},
		"an odd token":          {instead: map[string]http.HandlerFunc{"/token": says(`{"access_token":"a\r\nb","token_type":"Bearer"}`)}, answer: url.Values{"code": {"the-code"}}, why: "too long or malformed"},
		"token flood":           {instead: map[string]http.HandlerFunc{"/token": floods}, answer: url.Values{"code": {"the-code"}}, why: "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			s, home := newService(t), t.TempDir()
			if c.instead != nil {
				s.instead = c.instead
			}
			s.change = func(path string, d map[string]any) {
				if path == c.path {
					for member, value := range c.change {
						if text, ok := value.(string); ok {
							value = strings.ReplaceAll(text, "PLACE", s.URL)
						}
						d[member] = value
					}
				}
			}
			_, err := s.login(home, func(address string) {
				if c.answer == nil {
					t.Error("the person is asked")
				}
				s.browser(c.answer)(address)
			})
			if err == nil || !strings.Contains(err.Error(), c.why) || len(err.Error()) > 1000 || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%v, want %q", err, c.why)
			}
			if _, err := os.Stat(filepath.Join(home, "logins", "board.json")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("something is kept: %v", err)
			}
		})
	}
	if elsewhere.Load() != 0 {
		t.Errorf("%d requests to another server", elsewhere.Load())
	}
}

// A server that never answers, and a person who never comes, end with the context.
func TestLoginIsBounded(t *testing.T) {
	hangs := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
	}
	for _, path := range []string{"/mcp", "/meta", "/register", ""} {
		s := newService(t)
		s.instead = map[string]http.HandlerFunc{path: hangs}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("too late"))
		err := NewStore(t.TempDir(), "board", s.URL+"/mcp").Login(ctx, Request{Address: s.URL + "/mcp", Show: func(string) {}})
		cancel()
		if err == nil || !strings.Contains(err.Error(), "too late") {
			t.Errorf("%q hangs: %v", path, err)
		}
	}
}

package mitm

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// newGitHubHarness guards Anthropic and a GitHub server, and asks nobody unless change says
// who answers.
func newGitHubHarness(t testing.TB, server string, change func(*Config)) *harness {
	t.Helper()
	return newHarness(t, func(c *Config) {
		table, err := WithGitHub(Providers(), server)
		if err != nil {
			t.Fatal(err)
		}
		c.Table, c.Providers = table, []string{"anthropic", GitHub}
		c.Upstreams[githubHost(server).Name] = c.Upstreams["api.anthropic.com"]
		for host := range c.Upstreams {
			if host != githubHost(server).Name && host != "api.anthropic.com" {
				delete(c.Upstreams, host)
			}
		}
		if change != nil {
			change(c)
		}
	})
}

// github returns a request to the API with the stand-in token; fields end with CRLF each.
func (s *harness) github(host, line, fields, body string) string {
	if body != "" && !strings.Contains(strings.ToLower(fields), "content-type") {
		fields += "Content-Type: application/json; charset=utf-8\r\n"
	}
	if body != "" {
		fields += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	return line + " HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: token " + s.proxy.Sentinel(GitHub) + "\r\n" + fields + "\r\n" + body
}

func TestGitHubIsReadFreely(t *testing.T) {
	s := newGitHubHarness(t, "github.com", nil)
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", `<https://api.github.com/next>; rel="next"`)
		w.Header().Set("X-Oauth-Scopes", "repo")
		w.Header().Set("Set-Cookie", "a=b")
		if r.URL.Path == "/old" {
			w.Header().Set("Location", "https://api.github.com/new")
			w.WriteHeader(http.StatusMovedPermanently)
		}
		_, _ = io.WriteString(w, r.RequestURI)
	})
	for _, target := range []string{"/repos/o/r/contents/a%20b?ref=x%2Fy&per_page=100", "/repos/o/r/compare/main...topic", "/repos/o/r/actions/caches?key=k", "/old"} {
		res, body := s.inTunnel("api.github.com", s.github("api.github.com", "GET "+target, "Time-Zone: UTC\r\nCookie-X: y\r\n", ""))
		if res == nil || body != target || (res.StatusCode == 301) != (res.Header.Get("Location") != "") {
			t.Fatalf("%s: %+v %s", target, res, body)
		}
		if res.Header.Get("Link") == "" || res.Header.Get("X-Oauth-Scopes") == "" || res.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: header %v", target, res.Header)
		}
	}
	c := s.tunnel("api.github.com")
	_, _ = io.WriteString(c, strings.Replace(s.github("api.github.com", "HEAD /user", "", ""), ": token ", ": Bearer ", 1))
	if head, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: "HEAD"}); err != nil || head.StatusCode != 200 {
		t.Errorf("HEAD: %+v, %v", head, err)
	}
	for _, r := range s.requests {
		if r.Header.Get("Authorization") != "Bearer "+realKey || r.Header.Get("Time-Zone") == "" && r.Method == "GET" {
			t.Errorf("the server saw %v", r.Header)
		}
	}
}

// A person sees exactly what is sent, and it is sent once, also when the server refuses the
// token.
func TestGitHubAsksForEverythingElse(t *testing.T) {
	var asked []Request
	ruling, refused := Ruling{Approved: true, Outcome: "approved"}, 0
	s := newGitHubHarness(t, "github.com", func(c *Config) {
		c.Ask = func(_ context.Context, r Request) (Ruling, error) { asked = append(asked, r); return ruling, nil }
		c.Refused = func(context.Context, string, Credential) bool { refused++; return false }
	})
	s.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	const body = `{ "query": "mutation { x }" }`
	for i, line := range []string{"POST /graphql", "PUT /user/starred/o/r", "PATCH /repos/o/r", "DELETE /repos/o/r", "OPTIONS /x", "POST /x?a=b"} {
		if res, got := s.inTunnel("api.github.com", s.github("api.github.com", line, "", body)); res == nil || res.StatusCode != 401 {
			t.Fatalf("%s: %+v %s", line, res, got)
		}
		if len(asked) != i+1 || string(asked[i].Body) != body || asked[i].Digest == "" || len(s.bodies) != i+1 || s.bodies[i] != body {
			t.Fatalf("%s: asked about %+v, sent %q", line, asked, s.bodies)
		}
	}
	if refused != len(asked) {
		t.Errorf("%d refusals of the token were told", refused)
	}
	ruling = Ruling{Outcome: "denied", Reason: "not today"}
	res, got := s.inTunnel("api.github.com", s.github("api.github.com", "DELETE /repos/o/r", "", ""))
	if want := `{"message":"Blocked: DELETE /repos/o/r was not approved (denied). not today"}`; res == nil || res.StatusCode != 403 || got != want {
		t.Errorf("denied: %+v %s", res, got)
	}
	if len(s.bodies) != len(asked)-1 {
		t.Errorf("%d requests were sent after %d questions", len(s.bodies), len(asked))
	}
}

func TestGitHubRefuses(t *testing.T) {
	asked := 0
	ask := func(c *Config) {
		c.Ask = func(context.Context, Request) (Ruling, error) { asked++; return Ruling{Approved: true}, nil }
	}
	for server, host := range map[string]string{"github.com": "api.github.com", "ghe.example.org": "ghe.example.org"} {
		s := newGitHubHarness(t, server, ask)
		top := ""
		if server != "github.com" {
			top = "/api/v3"
		}
		send := func(line, fields, body string) func(*harness) string {
			return func(s *harness) string { return s.github(host, line, fields, body) }
		}
		rows := []refusal{
			{"no token", raw("GET " + top + "/user HTTP/1.1\r\nHost: " + host + "\r\n\r\n"), "403", ReasonKey},
			{"another token", raw("GET " + top + "/user HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: token ghp_0123456789\r\n\r\n"), "403", ReasonKey},
			{"another provider's", func(s *harness) string {
				return "GET " + top + "/user HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: token " + s.proxy.Sentinel("anthropic") + "\r\n\r\n"
			}, "403", ReasonKey},
			{"two tokens", send("GET "+top+"/user?access_token=x", "", ""), "403", ReasonKey},
			{"body of a GET", send("GET "+top+"/user", "", "{}"), "400", ReasonUnexpected},
			{"too large", send("POST "+top+"/x", "", `"`+strings.Repeat("a", 1<<20)+`"`), "413", ReasonTooLarge},
			{"too large in pieces", send("POST "+top+"/x", "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n"+strings.Repeat(" ", 1<<20+1)+"\r\n0\r\n", ""), "413", ReasonTooLarge},
			{"not JSON", send("POST "+top+"/x", "", "a=b"), "400", ReasonJSON},
			{"a name twice", send("POST "+top+"/x", "", `{"state":"open","state":"closed"}`), "400", ReasonJSON},
			{"a form", send("POST "+top+"/x", "Content-Type: application/x-www-form-urlencoded\r\n", "a=b"), "415", ReasonType},
			{"compressed", send("POST "+top+"/x", "Content-Encoding: gzip\r\n", "{}"), "415", ReasonEncoding},
			{"step up", send("DELETE "+top+"/a/%2e%2e/b", "", ""), "403", ReasonEndpoint},
			{"step up by a slash", send("GET "+top+"/a%2F..%2Fb", "", ""), "403", ReasonEndpoint},
			{"backslash", send("GET "+top+"/a%5C..%5Cb", "", ""), "403", ReasonEndpoint},
			{"upgrade", send("GET "+top+"/", "Connection: upgrade\r\nUpgrade: websocket\r\n", ""), "426", ReasonUpgrade},
		}
		if top != "" {
			for _, page := range []string{"/", "/o/r.git/info/refs", "/api", "/api/v33/x", "/apiv3/x", "/API/v3/x", "/login"} {
				rows = append(rows, refusal{"page " + page, send("GET "+page, "", ""), "403", ReasonEndpoint})
			}
		}
		for _, c := range rows {
			t.Run(server+"/"+c.name, func(t *testing.T) {
				s.t = t
				if res, body := s.inTunnel(host, c.send(s)); res == nil || res.Status[:3] != c.status || !strings.HasPrefix(body, `{"message":"`) {
					t.Errorf("answer %+v %s", res, body)
				}
				checkRefused(t, s, c.reason)
			})
		}
		s.t = t
		for _, target := range []string{top + "/user", strings.TrimSuffix(top, "/v3") + "/graphql"} {
			if res, _ := s.inTunnel(host, s.github(host, "GET "+target, "", "")); res == nil || res.StatusCode != 200 {
				t.Errorf("%s%s: %+v", host, target, res)
			}
		}
	}
	if asked > 0 {
		t.Errorf("a person was asked %d times about requests that cannot be sent", asked)
	}
	if _, err := WithGitHub(Providers(), "api.anthropic.com"); err == nil {
		t.Error("a host of another provider is accepted")
	}
}

func TestGitHubTokenDoesNotReachTheAgent(t *testing.T) {
	s := newGitHubHarness(t, "github.com", nil)
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "https://api.github.com/?t="+realKey)
		w.WriteHeader(http.StatusFound)
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	})
	res, body := s.inTunnel("api.github.com", s.github("api.github.com", "GET /echo", "", ""))
	if res == nil || body != "Bearer "+s.proxy.Sentinel(GitHub) || strings.Contains(fmt.Sprint(res.Header), realKey) {
		t.Errorf("%+v %s", res, body)
	}
	if all := s.awaitRecords(3); !slices.ContainsFunc(all, func(r Record) bool { return r.Reason == ReasonLeak }) {
		t.Errorf("records %+v", all)
	}
}

// Nobody is asked about a request that could not be sent for want of a token, and a client
// that goes away takes its question with it.
func TestGitHubAsksNobodyInVain(t *testing.T) {
	asked, withdrawn := make(chan struct{}, 1), make(chan struct{}, 1)
	var lacking error
	s := newGitHubHarness(t, "github.com", func(c *Config) {
		c.Credentials = func(context.Context, string) (Credential, error) { return Credential{KindAPIKey, realKey, ""}, lacking }
		c.Ask = func(ctx context.Context, _ Request) (Ruling, error) {
			asked <- struct{}{}
			<-ctx.Done()
			withdrawn <- struct{}{}
			return Ruling{Outcome: "withdrawn"}, nil
		}
	})
	lacking = fault.New("log in", "no token")
	res, body := s.inTunnel("api.github.com", s.github("api.github.com", "DELETE /repos/o/r", "", ""))
	if res == nil || res.StatusCode != 401 || body != `{"message":"No credential for github: no token (log in)"}` {
		t.Errorf("%+v %s", res, body)
	}
	checkRefused(t, s, ReasonNoLogin)
	lacking = nil
	c := s.tunnel("api.github.com")
	_, _ = io.WriteString(c, s.github("api.github.com", "DELETE /repos/o/r", "", ""))
	<-asked
	_ = c.NetConn().Close()
	<-withdrawn
	if got := s.awaitRecords(1)[0]; got.Decision == Allow {
		t.Errorf("record %+v", got)
	}
}

// unescaped returns a path as a server decodes it.
func unescaped(raw string) string {
	u, err := url.PathUnescape(raw)
	if err != nil {
		return raw
	}
	return u
}

// Whatever is let through to an Enterprise server stays below its API however the server
// reads the path.
func FuzzGitHubPath(f *testing.F) {
	for _, seed := range []string{"/api/v3/user", "/api/v3/a%2fb", "/api/v3/%2e%2e/x", "/api/graphql", "/api/v3/..%5c", "/api/v3//x", "/api/v3/%252e%252e/x"} {
		f.Add(seed)
	}
	h := githubHost("ghe.example.org")
	f.Fuzz(func(t *testing.T, raw string) {
		if checkWebPath(raw) != nil || h.apiEndpoint("GET", raw) == nil {
			return
		}
		for _, read := range []string{raw, strings.ReplaceAll(raw, `\`, "/"), unescaped(raw), strings.ReplaceAll(unescaped(raw), `\`, "/")} {
			if at := path.Clean(read); !slices.ContainsFunc(h.Below, func(top string) bool { return at == top || strings.HasPrefix(at, top+"/") }) {
				t.Errorf("%q is read as %q", raw, at)
			}
		}
	})
}

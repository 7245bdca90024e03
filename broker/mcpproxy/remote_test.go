package mcpproxy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	logins "github.com/ironcurtain-mux/ironcurtain-mux/broker/remote/login"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// remoteSpec is a server of the person's own that is reached over HTTP.
func remoteSpec(t *testing.T, address, more string) sandbox.Spec {
	t.Helper()
	all, err := servers.Parse("test", fmt.Appendf(nil, `{"own":{"url":%q%s}}`, address, more))
	if err != nil {
		t.Fatal(err)
	}
	c := all["own"]
	return sandbox.Spec{
		Name: "own", Remote: c.Remote(), Sandbox: servers.Sandbox{Off: true}, Own: true,
		Credentials: func(ctx context.Context) (map[string]string, error) { return c.Find(ctx, t.TempDir()) },
	}
}

// web is an MCP server over HTTP. Each function may be nil.
type web struct {
	check func(w http.ResponseWriter, r *http.Request) bool // whether the request is answered
	list  func(w http.ResponseWriter, id string)
	call  func(w http.ResponseWriter, r *http.Request, id string)
	get   func(w http.ResponseWriter, r *http.Request)

	begun, ended atomic.Int32 // sessions
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if s.check != nil && !s.check(w, r) {
		return
	}
	if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	id := string(m.ID)
	session := fmt.Sprint("session-", s.begun.Load())
	if m.Method != "initialize" && (r.Header.Get("Mcp-Session-Id") != session || r.Header.Get("MCP-Protocol-Version") != "2025-06-18") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	switch {
	case r.Method == http.MethodDelete:
		s.ended.Add(1)
	case r.Method == http.MethodGet && s.get != nil:
		s.get(w, r)
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case m.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("session-", s.begun.Add(1)))
		answer(w, id, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"x","version":"1"}}`)
	case m.Method == "tools/list" && s.list != nil:
		s.list(w, id)
	case m.Method == "tools/list":
		answer(w, id, `{"tools":[`+oneTool+`]}`)
	case m.Method == "tools/call" && s.call != nil:
		s.call(w, r, id)
	case m.Method == "tools/call":
		answer(w, id, `{"content":[{"type":"text","text":"said"}]}`)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func answer(w http.ResponseWriter, id, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, "{\"jsonrpc\":\"2.0\",\r\n \"id\":%s,\n\"result\":%s}\n", id, result)
}

func event(w http.ResponseWriter, format string, args ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "event: message\ndata: "+format+"\n\n", args...)
	_ = http.NewResponseController(w).Flush()
}

// serveWeb runs a server until the test's proxy has ended.
func serveWeb(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}

// callOwn makes one call of the server's tool, which a person approves.
func (r *harness) callOwn(a *agent, id string) received {
	r.t.Helper()
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"own__note","arguments":{"text":"x"}}}`, id))
	r.letThrough(policy.RuleUnannotated)
	return a.answerTo(id)
}

// A server over HTTP is as good as a program: its calls ask and reach it, with its
// credentials, and what it answers never contains them. Its session is ended.
func TestRemoteServer(t *testing.T) {
	t.Setenv("PLACE_TOKEN", "very-secret-0123456789")
	s := &web{
		check: func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Authorization") != "Bearer very-secret-0123456789" || r.Header.Get("X-Team") != "blue" {
				w.WriteHeader(http.StatusUnauthorized)
				return false
			}
			return true
		},
		call: func(w http.ResponseWriter, r *http.Request, id string) {
			event(w, `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}`)
			event(w, `{"jsonrpc":"2.0","id":%s,`+"\ndata: "+`"result":{"content":[{"type":"text","text":"said %s"}]}}`, id, r.Header.Get("Authorization"))
		},
	}
	address := serveWeb(t, s)
	r := ownHarness(t, remoteSpec(t, address, `,"headers":{"Authorization":"Bearer ${PLACE}","X-Team":"blue"},"credentials":{"PLACE":{"env":"PLACE_TOKEN"}}`), nil)
	a := r.agent()
	eventually(t, func() bool { return r.status("own").Tools == 1 }, "the server's tool")
	if m := r.callOwn(a, "1"); m.isError() || !strings.Contains(m.text(), "said ") || strings.Contains(m.text(), "very-secret") {
		t.Errorf("answer %s", m.Result)
	}
	r.close()
	if s.begun.Load() != 1 || s.ended.Load() != 1 {
		t.Errorf("%d sessions, %d ended", s.begun.Load(), s.ended.Load())
	}
	if log, err := os.ReadFile(r.logPath); err != nil || strings.Contains(string(log), "very-secret") || !strings.Contains(string(log), "connected over HTTP") {
		t.Errorf("%v: %s", err, log)
	}
}

// A session that the server has ended is begun anew, and so is one of a server that was
// started again. What the server says by itself is heard.
func TestRemoteServerBeginsAnew(t *testing.T) {
	var more atomic.Bool
	changed := make(chan struct{})
	s := &web{
		list: func(w http.ResponseWriter, id string) {
			tools := oneTool
			if more.Load() {
				tools += `,{"name":"other","inputSchema":{"type":"object"}}`
			}
			answer(w, id, `{"tools":[`+tools+`]}`)
		},
		get: func(w http.ResponseWriter, r *http.Request) {
			event(w, `{"jsonrpc":"2.0","id":"p","method":"ping"}`)
			select {
			case <-changed:
				event(w, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			case <-r.Context().Done():
			}
			<-r.Context().Done()
		},
	}
	r := ownHarness(t, remoteSpec(t, serveWeb(t, s), ""), nil)
	a := r.agent()
	eventually(t, func() bool { return r.status("own").Tools == 1 }, "the server's tool")
	more.Store(true)
	close(changed)
	eventually(t, func() bool { return r.status("own").Tools == 2 }, "the server's new tool")
	s.begun.Add(1) // the session is unknown from now on
	if m := r.callOwn(a, "1"); !m.isError() || !strings.Contains(m.text(), "has ended the session") {
		t.Errorf("the call that finds out: %s", m.Result)
	}
	eventually(t, func() bool { return s.begun.Load() == 3 && r.status("own").State == ServerRunning }, "a new session")
	if m := r.callOwn(a, "2"); m.isError() || m.text() != "said" {
		t.Errorf("in the new session: %s", m.Result)
	}
}

// A server that is gone is told of once and connected to again when a call needs it.
func TestRemoteServerIsAway(t *testing.T) {
	var away atomic.Bool
	s := &web{check: func(w http.ResponseWriter, _ *http.Request) bool {
		if !away.Load() {
			return true
		}
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
		return false
	}}
	var failures atomic.Int32
	r := ownHarness(t, remoteSpec(t, serveWeb(t, s), ""), func(c *Config) {
		c.Activity = func(a Activity) {
			if a.Kind == ServerFailed {
				failures.Add(1)
			}
		}
	})
	a := r.agent()
	eventually(t, func() bool { return r.status("own").Tools == 1 }, "the server's tool")
	away.Store(true)
	if m := r.callOwn(a, "1"); !m.isError() || !strings.Contains(m.text(), "is not running") {
		t.Errorf("without the server: %s", m.Result)
	}
	eventually(t, func() bool { return r.status("own").State == ServerBroken && failures.Load() == 1 }, "the failure")
	if p := r.status("own").Problem; !strings.Contains(p, "EOF") {
		t.Errorf("it is said: %s", p)
	}
	away.Store(false)
	if m := r.callOwn(a, "2"); m.isError() || m.text() != "said" {
		t.Errorf("with the server: %s", m.Result)
	}
	r.close()
}

// Whatever a server over HTTP answers, there is a clear line, the other tools work, and the
// proxy ends.
func TestRemoteServerHarmsNoOther(t *testing.T) {
	redirect := http.RedirectHandler("https://elsewhere.example.com/mcp?a=b", http.StatusTemporaryRedirect)
	status := func(code int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	writes := func(kind string, write func(w http.ResponseWriter) error) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			for r.Context().Err() == nil && write(w) == nil {
				_ = http.NewResponseController(w).Flush()
			}
		})
	}
	repeats := func(kind, text string) http.Handler {
		return writes(kind, func(w http.ResponseWriter) error { _, err := io.WriteString(w, text); return err })
	}
	for name, c := range map[string]struct {
		server http.Handler
		why    string
	}{
		"redirect":       {redirect, `redirects to "https://elsewhere.example.com/mcp?a=b", which is not followed`},
		"wants a login":  {status(http.StatusUnauthorized), "the server needs a credential"},
		"nothing there":  {status(http.StatusNotFound), "older SSE transport"},
		"wrong method":   {status(http.StatusMethodNotAllowed), "older SSE transport"},
		"fails":          {status(http.StatusBadGateway), "502 Bad Gateway"},
		"accepts only":   {status(http.StatusAccepted), "202 Accepted"},
		"a web page":     {repeats("text/html", "<p>"), "neither JSON nor a stream"},
		"rubbish":        {writes("application/json", func(w http.ResponseWriter) error { _, _ = io.WriteString(w, "{]"); return io.EOF }), "not an answer to the request"},
		"another answer": {writes("application/json", func(w http.ResponseWriter) error { answer(w, "7", "{}"); return io.EOF }), "not an answer to the request"},
		"endless answer": {repeats("application/json", strings.Repeat(" ", 1<<16)), "too long"},
		"endless event":  {repeats("text/event-stream", "data: "+strings.Repeat("x", 1<<16)), "too long"},
		"rubbish events": {repeats("text/event-stream", "data: {]\n\n"), "not"},
		"empty stream":   {writes("text/event-stream", func(http.ResponseWriter) error { return io.EOF }), "before the answer"},
		"comments only":  {repeats("text/event-stream", ": "+strings.Repeat("x", 1000)+"\n\n"), "initialize"},
		"notices only":   {repeats("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"), "initialize"},
		"never answers":  {http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body); <-r.Context().Done() }), "initialize"},
		"a long head":    {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) }), "header"},
		"floods by itself": {&web{get: func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				event(w, `{"jsonrpc":"2.0","id":"p","method":"ping"}`)
			}
		}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := ownHarness(t, remoteSpec(t, serveWeb(t, c.server), ""), func(config *Config) {
				if c.why == "initialize" { // that is waited for; the other server has to start in that time
					config.Limits.Start = 15 * time.Second
				}
			})
			a := r.agent()
			if m := a.call("1", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.isError() {
				t.Errorf("another tool: %s", m.Result)
			}
			want := ServerBroken
			if c.why == "" {
				want = ServerRunning
			}
			eventually(t, func() bool { return r.status("own").State == want }, "%s", want)
			if said := r.status("own").Problem; !strings.Contains(said, c.why) || len(said) > 2000 {
				t.Errorf("it is said: %q", said)
			}
			if m := a.call("2", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.isError() {
				t.Errorf("another tool: %s", m.Result)
			}
			r.close()
		})
	}
}

// A bad answer is an error of its call alone: the server runs on.
func TestRemoteServerAnswersBadly(t *testing.T) {
	for name, c := range map[string]struct {
		call func(w http.ResponseWriter, r *http.Request, id string)
		why  string
	}{
		"100 MB": {func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, id)
			part := []byte(strings.Repeat("x", 1<<20))
			for n := 0; n < 100; n++ {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
			_, _ = io.WriteString(w, `"}]}}`)
		}, "too long"},
		"fails": {func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusInternalServerError) }, "500 Internal Server Error"},
		"redirect": {func(w http.ResponseWriter, r *http.Request, _ string) {
			http.Redirect(w, r, "/other", http.StatusFound)
		}, "not followed"},
		"says why": {func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"no more today"}}`, id)
		}, "no more today"},
		"breaks off": {func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Content-Length", "1000")
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s`, id)
		}, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &web{call: c.call}
			r := ownHarness(t, remoteSpec(t, serveWeb(t, s), ""), nil)
			a := r.agent()
			eventually(t, func() bool { return r.status("own").Tools == 1 }, "the server's tool")
			if m := r.callOwn(a, "1"); !m.isError() || !strings.Contains(m.text(), c.why) {
				t.Errorf("answer of %d bytes: %.300s", len(m.Result), m.Result)
			}
			if s := r.status("own"); s.State != ServerRunning {
				t.Errorf("%+v", s)
			}
			r.close()
			if s.begun.Load() != 1 {
				t.Errorf("%d sessions", s.begun.Load())
			}
		})
	}
}

// A server that wants a login gets the person's: renewed when it is rejected, masked in
// answers. Without one, or with one that is over, its calls fail with what to do, and the
// other tools work.
func TestRemoteServerWantsLogin(t *testing.T) {
	var good atomic.Value // the token that is accepted
	good.Store("access-token-0")
	var over atomic.Bool
	s := &web{
		check: func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Authorization") == "Bearer "+good.Load().(string) {
				return true
			}
			w.WriteHeader(http.StatusUnauthorized)
			return false
		},
		call: func(w http.ResponseWriter, r *http.Request, id string) {
			answer(w, id, `{"content":[{"type":"text","text":"said `+r.Header.Get("Authorization")+`"}]}`)
		},
	}
	issuer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if over.Load() || r.FormValue("refresh_token") != "refresh-token-0" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
			return
		}
		fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer"}`, good.Load())
	})
	mux := http.NewServeMux()
	mux.Handle("/mcp", s)
	mux.Handle("/token", issuer)
	address := serveWeb(t, mux)
	home := t.TempDir()
	spec := remoteSpec(t, address, "")
	spec.Remote.Login = logins.NewStore(home, "own", address)
	r := ownHarness(t, spec, nil)
	a := r.agent()
	eventually(t, func() bool { return r.status("own").State == ServerBroken }, "the failure")
	const needed = `the server needs a login: run "ironcurtain-mux servers login own"`
	if p := r.status("own").Problem; !strings.Contains(p, needed) {
		t.Errorf("without a login: %s", p)
	}
	saved := fmt.Sprintf(`{"server":%q,"resource":%q,"endpoint":%q,"client":{"id":"x"},"access":"access-token-0","refresh":"refresh-token-0"}`,
		address, address, strings.TrimSuffix(address, "mcp")+"token")
	if err := errors.Join(os.MkdirAll(filepath.Join(home, "logins"), 0o700), os.WriteFile(filepath.Join(home, "logins", "own.json"), []byte(saved), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := r.proxy.Restart("own"); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return r.status("own").Tools == 1 }, "the server's tool")
	for i, token := range []string{"access-token-0", "access-token-1"} {
		good.Store(token)
		if m := r.callOwn(a, fmt.Sprint(i+1)); m.isError() || !strings.Contains(m.text(), "said ") || strings.Contains(m.text(), token) {
			t.Errorf("with %s: %s", token, m.Result)
		}
	}
	if s.begun.Load() != 1 {
		t.Errorf("%d sessions", s.begun.Load())
	}
	over.Store(true)
	good.Store("access-token-2")
	if m := r.callOwn(a, "3"); !m.isError() || !strings.Contains(m.text(), needed) {
		t.Errorf("when the login is over: %s", m.Result)
	}
	eventually(t, func() bool { return strings.Contains(r.status("own").Problem, needed) }, "the failure")
	if m := a.call("4", "filesystem__read_text_file", `{"path":"/workspace/a"}`); m.isError() {
		t.Errorf("another tool: %s", m.Result)
	}
	r.close()
	if log, err := os.ReadFile(r.logPath); err != nil || strings.Contains(string(log), "access-token") || strings.Contains(string(log), "refresh-token") {
		t.Errorf("%v: %s", err, log)
	}
}

// serveEverything starts the reference server on a free port.
func serveEverything(t *testing.T) (port int) {
	t.Helper()
	installed, err := servers.Install(t.Context(), cacheDir(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	argv, err := installed.Argv("everything")
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // another program may be faster to take the port
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port = l.Addr().(*net.TCPAddr).Port
		_ = l.Close()
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1], "streamableHttp")
		cmd.Env = append(os.Environ(), fmt.Sprint("PORT=", port))
		output, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		for said := bufio.NewScanner(output); said.Scan(); {
			if strings.Contains(said.Text(), "listening") {
				return port
			}
			t.Log(said.Text())
		}
	}
	t.Fatal("the reference server does not start")
	return 0
}

// The reference server speaks HTTP, too.
func TestTheReferenceServerOverHTTP(t *testing.T) {
	r := ownHarness(t, remoteSpec(t, fmt.Sprintf("http://localhost:%d/mcp", serveEverything(t)), ""), nil)
	a := r.agent()
	eventually(t, func() bool { return r.status("own").State == ServerRunning && r.status("own").Tools > 5 }, "the server's tools")
	a.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"own__echo","arguments":{"message":"grüße <b>&"}}}`)
	r.letThrough(policy.RuleUnannotated)
	if m := a.answerTo("1"); m.isError() || !strings.Contains(m.text(), "grüße <b>&") {
		t.Errorf("answer %s", m.Result)
	}
	a.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"own__trigger-long-running-operation","arguments":{"duration":0.2,"steps":4},"_meta":{"progressToken":"mine"}}}`)
	r.letThrough(policy.RuleUnannotated)
	for told := 0; ; {
		m := a.receive()
		if m.Method == "notifications/progress" && strings.Contains(string(m.Params), `"progressToken":"mine"`) && strings.Contains(string(m.Params), `"total":4`) {
			told++
		}
		if string(m.ID) == "2" {
			if m.isError() || told == 0 {
				t.Errorf("%d signs of life, then %s", told, m.Result)
			}
			break
		}
	}
	r.close()
}

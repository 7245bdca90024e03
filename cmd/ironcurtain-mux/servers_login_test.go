package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// board is an MCP server over HTTP that wants a login, with its authorization server.
func board(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	document := func(path, text string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.ReplaceAll(text, "PLACE", s.URL))
		})
	}
	document("/.well-known/oauth-protected-resource/mcp", `{"resource":"PLACE/mcp","authorization_servers":["PLACE"]}`)
	document("/.well-known/oauth-authorization-server", `{"issuer":"PLACE","authorization_endpoint":"PLACE/authorize","token_endpoint":"PLACE/token",
		"registration_endpoint":"PLACE/register","code_challenge_methods_supported":["S256"]}`)
	document("/register", `{"client_id":"x"}`)
	document("/token", `{"access_token":"very-secret-0123456789","token_type":"Bearer","expires_in":3600,"refresh_token":"most-secret-0123456789"}`)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer very-secret-0123456789" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		result := map[string]string{
			"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`,
			"tools/list": `{"tools":[{"name":"note","inputSchema":{"type":"object"}},{"name":"other","inputSchema":{"type":"object"}}]}`,
			"tools/call": `{"content":[{"type":"text","text":"said ` + r.Header.Get("Authorization") + `"}]}`,
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil || result[m.Method] == "" {
			w.WriteHeader(map[bool]int{true: http.StatusAccepted, false: http.StatusMethodNotAllowed}[r.Method == http.MethodPost])
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result[m.Method])
	})
	return s
}

// A tab says which server needs a login. After it was made on the host the server works,
// and no token is seen anywhere.
func TestServersLogin(t *testing.T) {
	t.Parallel()
	home, s := newHome(t), board(t)
	configure(t, home, fmt.Sprintf(`{"agent":"shell","mcpServers":{"board":{"type":"http","url":"%s/mcp"},"local":{"command":"x"}}}`, s.URL))
	d := driveFramed(t, home, 140, 40, "ironcurtain-mux")
	d.see(patience, "ironcurtain-mux servers login board")
	listed := func(want string) {
		began := time.Now()
		for found := false; !found; {
			if time.Since(began) > patience {
				t.Fatalf("the servers are never listed with %q", want)
			}
			d.send("\x01/servers\r")
			d.until("the servers", patience, func(screen string) bool {
				found = strings.Contains(screen, want)
				return strings.Contains(screen, listHead)
			})
			d.send("q")
			d.until("the tab", patience, func(screen string) bool { return !strings.Contains(screen, listHead) })
		}
	}
	for _, c := range [][2]string{{"local", "a program of this machine"}, {"nobody", `there is no server "nobody"`}} {
		if _, errs, code := d.command("servers", "login", c[0]); code != cli.ExitFailure || !strings.Contains(errs, c[1]) {
			t.Errorf("%s: %d, %s", c[0], code, errs)
		}
	}
	login := exec.CommandContext(t.Context(), "ironcurtain-mux", "servers", "login", "board")
	login.Env, login.Stderr = environment(home, cacheDirectory(t)), os.Stderr
	out, err := login.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := login.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		u, err := url.Parse(lines.Text())
		if err != nil || u.Host == "" {
			continue
		}
		q := u.Query()
		answer, err := http.Get(q.Get("redirect_uri") + "?" + url.Values{"state": {q.Get("state")}, "code": {"x"}}.Encode())
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
	if err := login.Wait(); err != nil || !strings.Contains(said.String(), "/servers restart board") || strings.Contains(said.String(), "-secret-") {
		t.Fatalf("%v: %s", err, said.String())
	}
	listed("failed: the server needs a login")
	d.send("\x01/servers restart board\r")
	listed("2 tools; running")
	session := d.onlySession()
	lines := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"board__note","arguments":{}}}
`
	workOf(t, session).add("lines", lines)
	d.send("(cat lines; sleep 600) | ironcurtain-mux-bridge mcp >answer &\r")
	d.until("the call", patience, func(string) bool { return len(d.pending()) == 1 })
	if out, errs, code := d.command("approve", d.pending()[0].ID); code != cli.ExitOK {
		t.Fatal(out, errs)
	}
	d.until("the answer", patience, func(string) bool {
		answer, _ := workOf(t, session).read("answer")
		return strings.Contains(answer, "said ") && !strings.Contains(answer, "-secret-")
	})
	d.send("\x01/quit!\r")
	d.ended(patience)
	for _, was := range []string{"The login is forgotten.", "There was no login."} {
		if out, errs, code := d.command("servers", "logout", "board"); code != cli.ExitOK || !strings.Contains(out, was) {
			t.Errorf("%d: %s%s", code, out, errs)
		}
	}
	if log, err := os.ReadFile(filepath.Join(home, "state", "ironcurtain-mux.log")); err != nil || strings.Contains(string(log)+d.audit(session.ID), "-secret-") {
		t.Errorf("a token is on record (%v)", err)
	}
}

package main

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/wiring"
)

// githubToken is the person's token. It must stay on this side.
const githubToken = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

// githubServer is the API of a GitHub server. It keeps what it was asked to change, and
// sends the token back where it is asked for.
type githubServer struct {
	*httptest.Server
	mu      sync.Mutex
	changes []string
}

func newGitHub(t *testing.T) *githubServer {
	t.Helper()
	g := &githubServer{}
	g.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body, _ := io.ReadAll(r.Body)
		switch at := strings.TrimPrefix(r.URL.Path, "/api/v3"); {
		case r.Header.Get("Authorization") != "Bearer "+githubToken:
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"message":"Bad credentials"}`)
		case r.Method != http.MethodGet:
			g.mu.Lock()
			g.changes = append(g.changes, r.Method+" "+at+" "+string(body))
			g.mu.Unlock()
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"number":7}`)
		case at == "/echo":
			_, _ = fmt.Fprintf(w, `{"seen":%q}`, r.Header.Get("Authorization"))
		default:
			_, _ = io.WriteString(w, `{"login":"octocat"}`)
		}
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *githubServer) changed() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.changes)
}

// driveGitHub opens a shell tab from which the real gh can use the server. more is what
// else stands in the "gh" of config.json.
func driveGitHub(t *testing.T, host, more string) (*driver, *githubServer) {
	t.Helper()
	g := newGitHub(t)
	home := newHome(t)
	work, ca, token := filepath.Join(home, "work"), filepath.Join(home, "ca.pem"), filepath.Join(home, "token")
	configure(t, home, fmt.Sprintf(`{"gh":{%s"token":{"command":["cat",%q]}}}`, more, token))
	program, err := exec.LookPath("gh")
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(program)
	err = errors.Join(err, os.Chmod(home, 0o755), os.Mkdir(work, 0o755), os.WriteFile(filepath.Join(work, "gh"), binary, 0o755),
		os.WriteFile(token, []byte(githubToken+"\n"), 0o600),
		os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.Certificate().Raw}), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	d := drive(t, home, 110, 40, "--agent", "shell", "--workspace", work, "--upstream", host+"="+g.URL, "--upstream-ca", ca)
	d.see(patience, "/workspace$")
	return d, g
}

// In a tab, gh reads from the API by itself; what changes something waits for the person,
// who sees all of it and the credential, and exactly that is sent. The token is not to be
// found on the agent's side.
func TestGHInATab(t *testing.T) {
	t.Parallel()
	for host, more := range map[string]string{"api.github.com": "", "ghe.example.org": `"host":"ghe.example.org",`} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			d, g := driveGitHub(t, host, more)
			id := d.onlySession().ID
			d.send("clear; ./gh api user | cat\r")
			d.see(patience, `{"login":"octocat"}`)
			d.send("clear; ./gh api repos/o/r/issues -f title=hello -f body='two words' | cat\r")
			waiting := d.waits()
			credential := fmt.Sprintf(`your token of %s, from command "cat"`, strings.TrimPrefix(host, "api."))
			d.send("\x01")
			d.see(patience, "requests "+host+" / POST", "credential: ", credential, `body.title: "hello"`, `body.body: "two words"`, "gh-reads-only")
			d.decide("/approve", func() bool { return len(d.pending()) == 0 })
			d.send("\x1b")
			d.see(patience, `{"number":7}`)
			if want := []string{`POST /repos/o/r/issues {"body":"two words","title":"hello"}`}; !slices.Equal(g.changed(), want) {
				t.Errorf("sent %q after %s", g.changed(), waiting.Arguments)
			}
			d.send("clear; ./gh api -X DELETE repos/o/r | cat\r")
			d.waits()
			d.send("\x01")
			d.see(patience, "requests "+host+" / DELETE") // a line that was begun before decides nothing
			d.decide("/deny", func() bool { return len(d.pending()) == 0 })
			d.send("\x1b")
			d.see(patience, "was not approved (denied)", "HTTP 403")
			d.send("clear; ./gh api graphql -f query='mutation{x}'\r")
			d.waits()
			d.send("\x03")
			d.until("the withdrawal", patience, func(string) bool { return len(d.pending()) == 0 })
			d.send("clear; ./gh api echo | cat\r")
			d.see(patience, `{"seen":"Bearer ghp_ironcurtain_`)
			if n := len(g.changed()); n != 1 {
				t.Errorf("%d changes were sent", n)
			}
			if out := d.inside(id, "env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'; grep -rs . /workspace/* /home /etc/ironcurtain /tmp --exclude=gh; true"); strings.Contains(out, githubToken) || !strings.Contains(out, "ghp_ironcurtain_") {
				t.Errorf("in the container: %s", out)
			}
			if found := filesWith(t, d.state(), githubToken); len(found) > 0 {
				t.Errorf("the token is in %q", found)
			}
			d.until("the records", patience, func(string) bool {
				record, err := os.ReadFile(d.state("sessions", id, "audit.jsonl"))
				return err == nil && !slices.ContainsFunc([]string{"escalated-approved", "escalated-denied", "escalated-withdrawn", "credential-in-answer"},
					func(want string) bool { return !strings.Contains(string(record), want) })
			})
		})
	}
}

// A request that waited when the multiplexer was killed is not sent, and nobody is asked
// about it any more. The next daemon serves the same gh.
func TestGHAfterAKill(t *testing.T) {
	t.Parallel()
	d, g := driveGitHub(t, "api.github.com", "")
	d.send("clear; ./gh api -X DELETE repos/o/r\r")
	d.waits()
	d.murder(t, d.onlySession().ID)
	d.until("the agent to be idle", patience, func(string) bool { return d.onlySession().State == broker.StateIdle })
	d.send("clear; ./gh api user | cat\r")
	d.see(patience, `{"login":"octocat"}`)
	if changes, waiting := g.changed(), d.pending(); len(changes)+len(waiting) > 0 {
		t.Errorf("sent %q, waiting %+v", changes, waiting)
	}
}

// What of "gh" in config.json cannot be used is one clear line.
func TestGHInConfig(t *testing.T) {
	for text, want := range map[string]string{
		`{"gh":{"token":{"env":"T"}}}`:                             "",
		`{"gh":{"host":"ghe.example.org","token":{"file":"~/t"}}}`: "",
		`{"gh":{}}`:                                "/gh: missing property 'token'",
		`{"gh":{"token":"ghp_x"}}`:                 "/gh/token: ",
		`{"gh":{"token":{}}}`:                      "/gh/token: ",
		`{"gh":{"token":{"env":"T","file":"/t"}}}`: "/gh/token: ",
		`{"gh":{"host":"https://ghe.example.org","token":{"env":"T"}}}`:            "/gh/host: ",
		`{"gh":{"host":"ghe","token":{"env":"T"}}}`:                                "/gh/host: ",
		`{"gh":{"host":"api.anthropic.com","token":{"env":"T"}}}`:                  `host api.anthropic.com belongs to "anthropic" already`,
		`{"gh":{"host":"ghe.example.org","token":{"env":"T"},"writes":"nothing"}}`: "/gh/writes: ",
	} {
		c, err := config.Parse("config.json", []byte(text))
		if err == nil {
			_, err = wiring.TableOf(c)
		}
		if (want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

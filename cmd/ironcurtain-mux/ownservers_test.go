package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// A tab has the servers that config.json and --servers name. Their tools ask, a grant lets a
// tool through with any arguments, and a credential never reaches the agent.
func TestOwnServers(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	installed, err := servers.Install(t.Context(), cacheDirectory(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	everything, err := installed.Argv("everything")
	if err != nil {
		t.Fatal(err)
	}
	entry := fmt.Sprintf(`{"command":%q,"args":[%q,"stdio"],"credentials":{"PLACE_TOKEN":{"file":"~/token"}}}`, everything[0], everything[1])
	for path, text := range map[string]string{
		"state/config.json": `{"agent":"shell","mcpServers":{"place":` + entry + `,"gone":{"command":"/no/such/program"},"off":{"command":"x","enabled":false}}}`,
		"more.json":         `{"mcpServers":{"other":{"command":"false","agents":["codex"]}}}`,
		"user/token":        "very-secret-0123456789\n",
	} {
		path = filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := driveFramed(t, home, 120, 40, "ironcurtain-mux", "--servers", filepath.Join(home, "more.json"))
	d.see(patience, "tool server gone could not be started")
	d.awaitServers("place")
	s := d.onlySession()
	lines := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"place__get-env","arguments":{}}}
`
	workOf(t, s).add("lines", lines)
	for _, granted := range []bool{false, true} {
		d.send("(cat lines; sleep 600) | ironcurtain-mux-bridge mcp >answer &\r")
		if granted {
			d.see(patience, "grant #1 lets place/get-env through")
		} else {
			d.until("the call", patience, func(string) bool { return len(d.pending()) == 1 })
			if out, errs, code := d.command("approve", d.pending()[0].ID, "--remember", "tool"); code != cli.ExitOK {
				t.Fatal(out, errs)
			}
		}
		d.until("the answer", patience, func(string) bool {
			answer, _ := workOf(t, s).read("answer")
			return strings.Contains(answer, "PLACE_TOKEN") && !strings.Contains(answer, "very-secret")
		})
	}
	for name, want := range map[string]string{"git": "has a server of this name", "other": `is a server "other" already`, "a__b": "a server's name has"} {
		refused := func() bool { // a notice of the start may take the message's place
			d.send("\x01\x15/servers add " + name + " x\r")
			return eventually(3*time.Second, func() bool { return d.says(want) })
		}
		said := refused()
		if !said {
			said = refused()
		}
		if !said {
			t.Errorf("add server %s: %s", name, d.text())
		}
	}
	d.send("\x01/servers add added '" + everything[0] + "' '" + everything[1] + "' stdio\r")
	d.see(patience, "server added is in config.json and starts in this tab")
	d.awaitServers("added")
	d.send("(sed s/place/added/ lines; sleep 600) | ironcurtain-mux-bridge mcp &\r")
	d.until("a call of the server that was added", patience, func(string) bool { return len(d.pending()) == 1 })
	if out, errs, code := d.command("config", "show"); code != cli.ExitOK || !strings.Contains(out, `"added"`) {
		t.Error(out, errs)
	}
	d.send("\x01/quit!\r")
	d.ended(patience)
	if record := d.audit(s.ID); strings.Contains(record, "very-secret") || !strings.Contains(record, "structural-unannotated-tool") {
		t.Errorf("on record:\n%s", record)
	}
}

// listHead is above the list of /servers and nowhere else. No message covers it, as it may cover
// the hint at its foot.
const listHead = "\n servers ──"

// awaitServers waits until /servers shows that server-everything runs by that name, and that
// another server has failed.
func (d *driver) awaitServers(name string) {
	d.t.Helper()
	runs := regexp.MustCompile(`(?m)^ *` + name + ` +14 tools; running`)
	began := time.Now()
	for listed := false; !listed; {
		if time.Since(began) > patience {
			d.t.Fatal("the servers are never listed as they should be")
		}
		d.send("\x01/servers\r")
		d.until("the servers", patience, func(screen string) bool {
			listed = runs.MatchString(screen) && strings.Contains(screen, "failed: ")
			return strings.Contains(screen, listHead)
		})
		d.send("q")
		d.until("the tab", patience, func(screen string) bool { return !strings.Contains(screen, listHead) })
	}
}

// A server that cannot be used is one clear line before anything starts.
func TestOwnServersRefused(t *testing.T) {
	for entry, want := range map[string]string{
		`{"git":{"command":"x"}}`: `server "git": every session has a server of this name already`,
		`{"a":{"command":"x","credentials":{"K":{"command":["x"],"env":"Y"}}}}`: "/mcpServers/a/credentials/K",
		`{"a":{"command":"x","credentials":{"K":"the-value"}}}`:                 "/mcpServers/a/credentials/K",
		`{"a":{"command":"x","env":{"K":"1"},"credentials":{"K":{"env":"Y"}}}}`: `"K" is in env and in credentials`,
		`{"a":{"command":"x","agents":["nobody"]}}`:                             `server "a": agents`,
		`{"a":{"url":"http://example.com/mcp"}}`:                                `server "a": url: the address must use https`,
		`{"a":{"type":"sse","url":"https://example.com/mcp"}}`:                  "older SSE transport",
		`{"a":{"url":"https://example.com","sandbox":false}}`:                   "for servers that are programs",
		`{"a":{"url":"https://x.io","headers":{"Authorization":"the-value"}}}`:  "never written here",
		`{"a":{"command":"x","sandbox":{"network":{"allowedDomains":["*"]}}}}`:  `"*" is not a domain`,
		`{"a__b":{"command":"x"}}`:                                              `server "a__b": a server's name has`,
	} {
		home := newHome(t)
		configure(t, home, `{"agent":"shell","mcpServers":`+entry+`}`)
		d := &driver{t: t, home: home}
		_, errs, code := d.command("start", "x")
		if code != cli.ExitFailure || !strings.Contains(errs, want) || strings.Count(errs, "\n") > 2 || strings.Contains(errs, "the-value") {
			t.Errorf("%s: code %d, %s", entry, code, errs)
		}
	}
}

// On a terminal, the line of a mistake in config.json is shown, without values that may be secret.
func TestAMistakeIsShownInItsLine(t *testing.T) {
	home := newHome(t)
	configure(t, home, `{"agnet":"shell","mcpServers":{"a":{"command":"x","env":{"K":"the-value"}}}}`)
	d := drive(t, home, 100, 24)
	if code := d.exit(patience); code != cli.ExitFailure || !d.says(`did you mean "agent"?`, `"agnet":"*****"`, "^^^^^^^") || d.says("the-value") {
		t.Errorf("code %d:\n%s", code, d.text())
	}
}

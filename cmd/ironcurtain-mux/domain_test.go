package main

import (
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// opensDomain asks for a host from inside, approves it from outside, and looks
// at what the proxy says of it before and after.
func (d *driver) opensDomain(t *testing.T, a realAgent, id broker.SessionID) {
	t.Helper()
	const connect = "CONNECT docs.example.org:443 HTTP/1.1\\r\\nHost: docs.example.org:443\\r\\n\\r\\n"
	if out := d.connect(id, connect); !strings.Contains(out, " 403 ") {
		t.Errorf("reached before anybody allowed it: %s", out)
	}
	for _, domain := range []string{"169.254.169.254", "localhost", "metadata.google.internal", a.host} {
		out := d.toolCall(id, "proxy__add_proxy_domain", `{"domain":"`+domain+`","justification":"x"}`)
		if !strings.Contains(out, "DENIED") || len(d.pending()) != 0 {
			t.Errorf("%s: %s", domain, out)
		}
	}
	answered := make(chan string, 1)
	go func() {
		answered <- d.toolCall(id, "proxy__add_proxy_domain", `{"domain":"docs.example.org","justification":"to read"}`)
	}()
	d.until("the request", patience, func(string) bool { return len(d.pending()) == 1 })
	waiting := d.pending()[0]
	if waiting.Server != "proxy" || !strings.Contains(string(waiting.Arguments), "docs.example.org") {
		t.Fatalf("waits: %+v", waiting)
	}
	if out, errs, code := d.command("approve", waiting.ID); code != 0 {
		t.Fatalf("approve: %s%s", out, errs)
	}
	if out := <-answered; !strings.Contains(out, "added") {
		t.Fatalf("answer: %s", out)
	}
	if out := d.connect(id, connect); !strings.Contains(out, " 200 ") {
		t.Errorf("not reached after it was allowed: %s", out)
	}
	if out := d.toolCall(id, "proxy__remove_proxy_domain", `{"domain":"docs.example.org"}`); !strings.Contains(out, "removed") {
		t.Errorf("removing: %s", out)
	}
	if out := d.connect(id, connect); !strings.Contains(out, " 403 ") {
		t.Errorf("reached after it was given up: %s", out)
	}
}

// toolCall calls a tool from inside and returns the answer's line.
func (d *driver) toolCall(id broker.SessionID, tool, arguments string) string {
	d.t.Helper()
	lines := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":"asked","method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
	return d.inside(id, `coproc ironcurtain-mux-bridge mcp
cat >&${COPROC[1]} <<'LINES'
`+lines+`
LINES
grep -m1 '"id":"asked"' <&${COPROC[0]}
kill $COPROC_PID`)
}

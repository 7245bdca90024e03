package main

import (
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// Two agents of different makers beside each other: each has its container, its
// sockets and its credential, which opens nothing at the other.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	one, other := realAgentNamed(t, "codex"), realAgentNamed(t, "gemini")
	d := one.open(t)
	first := d.onlySession()
	d.send("\x01/new " + other.name + "\r")
	d.see(patience, other.ready)
	var second broker.Session
	d.until("the second session's tools", patience, func(string) bool {
		for _, s := range d.sessions() {
			if s.ID != first.ID && s.State == broker.StateIdle {
				second = s.Session
			}
		}
		return second.ID != ""
	})
	other.settle(d)

	var keys []string
	for _, at := range []struct {
		agent   realAgent
		session broker.Session
	}{{one, first}, {other, second}} {
		key := strings.TrimSpace(d.inside(at.session.ID, `printf %s "`+at.agent.sentinel+`"`))
		if len(key) < 20 || !strings.Contains(key, "ironcurtain") {
			t.Errorf("%s has the credential %q", at.agent.name, key)
		}
		keys = append(keys, key)
	}
	if keys[0] == keys[1] {
		t.Error("both agents have the same credential")
	}
	if d.run(first.ID) == d.run(second.ID) {
		t.Error("both agents have the same sockets")
	}
	// Neither the other's provider nor the other's credential is of use.
	refused := d.connect(second.ID, "CONNECT "+one.host+":443 HTTP/1.1\\r\\nHost: "+one.host+":443\\r\\n\\r\\n")
	if !strings.Contains(refused, " 403 ") {
		t.Errorf("%s reaches the provider of %s: %s", other.name, one.name, refused)
	}
	refused = d.inside(second.ID, `printf 'POST /v1beta/models/m:countTokens HTTP/1.1\r\nHost: `+other.host+`\r\n`+
		strings.Replace(other.credential, "%s", keys[0], 1)+`\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}' |
		timeout 60 openssl s_client -quiet -proxy 127.0.0.1:18080 -connect `+other.host+`:443 -servername `+other.host+` 2>&1 || true`)
	if !strings.Contains(refused, " 403 ") {
		t.Errorf("%s gets in with the credential of %s: %s", other.name, one.name, refused)
	}

	d.send("\x01/quit!\r")
	if code := d.exit(2 * time.Minute); code != 0 {
		t.Errorf("exit code %d", code)
	}
	d.nothingLeft(first.ID)
	d.nothingLeft(second.ID)
	d.traceless()
}

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// inside runs a shell command in the session's container and returns what it
// printed.
func (d *driver) inside(id broker.SessionID, script string) string {
	d.t.Helper()
	client := engine(d.t)
	list, err := client.List(d.t.Context(), map[string]string{broker.LabelSession: id})
	if err != nil || len(list) != 1 {
		d.t.Fatalf("containers of the session: %v, %v", list, err)
	}
	out, errs, code, err := client.Exec(d.t.Context(), list[0].ID, []string{"bash", "-c", script}, "1000:1000")
	if err != nil || code != 0 {
		d.t.Fatalf("%s: code %d, %v\n%s%s", script, code, err, out, errs)
	}
	return out
}

// isolated checks what the agent's container is, seen from inside, with the real
// agent in it.
func (d *driver) isolated(t *testing.T, a realAgent, id broker.SessionID) {
	t.Helper()
	t.Run("no interface but lo", func(t *testing.T) {
		interfaces := strings.Fields(d.inside(id, "ls /sys/class/net"))
		if len(interfaces) != 1 || interfaces[0] != "lo" {
			t.Errorf("interfaces: %v", interfaces)
		}
	})
	t.Run("no capability, no new privileges, not root", func(t *testing.T) {
		status := d.inside(id, "cat /proc/1/status /proc/$(pgrep -n '^"+a.process+"')/status")
		for _, line := range strings.Split(status, "\n") {
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimSpace(value)
			switch name {
			case "CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb":
				if strings.Trim(value, "0") != "" {
					t.Errorf("%s is %s", name, value)
				}
			case "NoNewPrivs":
				if value != "1" {
					t.Errorf("NoNewPrivs is %s", value)
				}
			case "Uid":
				if strings.HasPrefix(value, "0") {
					t.Errorf("Uid is %s", value)
				}
			}
		}
	})
	t.Run("read-only root", func(t *testing.T) {
		// What a container with copies is told is its own copy, and its sockets are its bridge's.
		others := map[string]string{"": "/etc/ironcurtain/x /run/ironcurtain/x", "stream": "/etc/ironcurtain/x"}[os.Getenv(wayVariable)]
		paths := append([]string{"/usr/x", "/etc/x", "/bin/x"}, strings.Fields(others)...)
		if out := d.inside(id, "touch "+strings.Join(paths, " ")+" 2>&1; true"); strings.Count(out, "ead-only") != len(paths) {
			t.Errorf("got: %s", out)
		}
	})
	t.Run("no real key anywhere", func(t *testing.T) {
		// The scripted provider's real keys have a prefix of their own. The pattern is
		// written so that the search does not find itself.
		out := d.inside(id, `pattern='-[s]cripted-'
			for p in /proc/[0-9]*; do tr '\0' '\n' <"$p/environ" 2>/dev/null; tr '\0' '\n' <"$p/cmdline" 2>/dev/null; done | grep -c -- "$pattern"
			grep -rIl -- "$pattern" /home /workspace /etc /tmp /run 2>/dev/null; true`)
		if strings.TrimSpace(out) != "0" {
			t.Errorf("the real key is in the container: %s", out)
		}
	})
	t.Run("another host is refused", func(t *testing.T) {
		if out := d.connect(id, "CONNECT example.com:443 HTTP/1.1\\r\\nHost: example.com:443\\r\\n\\r\\n"); !strings.Contains(out, " 403 ") {
			t.Errorf("got: %s", out)
		}
	})
	t.Run("another port is refused", func(t *testing.T) {
		if out := d.connect(id, "CONNECT "+a.host+":80 HTTP/1.1\\r\\nHost: "+a.host+":80\\r\\n\\r\\n"); !strings.Contains(out, " 403 ") && !strings.Contains(out, " 400 ") {
			t.Errorf("got: %s", out)
		}
	})
	t.Run("another endpoint is refused", func(t *testing.T) {
		out := d.inside(id, `printf 'GET `+a.forbidden+` HTTP/1.1\r\nHost: `+a.host+`\r\n`+a.credential+`\r\nConnection: close\r\n\r\n' "`+a.sentinel+`" |
			timeout 60 openssl s_client -quiet -proxy 127.0.0.1:18080 -connect `+a.host+`:443 -servername `+a.host+` 2>&1 || true`)
		if !strings.Contains(out, " 403 ") {
			t.Errorf("got: %s", out)
		}
	})
	t.Run("the host's sockets and state are not there", func(t *testing.T) {
		out := d.inside(id, "ls /var/run/docker.sock /run/docker.sock 2>/dev/null; find / -xdev -name audit.jsonl 2>/dev/null; ls /run/ironcurtain 2>/dev/null; true")
		want := "mitm-proxy.sock ports.sock proxy.sock"
		if os.Getenv(wayVariable) != "" {
			want = "" // over a stream there is no socket of the host's
		}
		if got := strings.Join(strings.Fields(out), " "); got != want {
			t.Errorf("found: %s", got)
		}
	})
	t.Run("a host is reached once a person has let it", func(t *testing.T) { d.opensDomain(t, a, id) })
}

// connect sends bytes to the proxy from inside and returns the answer's first line.
func (d *driver) connect(id broker.SessionID, request string) string {
	d.t.Helper()
	return d.inside(id, `exec 3<>/dev/tcp/127.0.0.1/18080; printf '`+request+`' >&3; read -rt 60 line <&3; echo "$line"`)
}

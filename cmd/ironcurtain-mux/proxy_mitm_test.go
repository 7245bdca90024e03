package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
)

// mitmRun is a running "proxy mitm".
type mitmRun struct {
	t     *testing.T
	ready struct {
		Ready     bool
		Socket    string
		CA        string
		Sentinels map[string]string
	}
	socket, state, audit string
	stop                 func() error // as SIGTERM does, and waits for the end
	stderr               bytes.Buffer // to be read after it
}

func startMITM(t *testing.T, upstream *httptest.Server, key string) *mitmRun {
	t.Helper()
	env := map[string]string{"ANTHROPIC_API_KEY": key}
	return launchMITM(t, t.TempDir(), upstream, []string{"anthropic"}, env, "api.anthropic.com="+upstream.URL)
}

// launchMITM starts a proxy in a home directory, with keys in its environment and hosts moved to
// upstreams.
func launchMITM(t *testing.T, home string, upstream *httptest.Server, providers []string, env map[string]string, moved ...string) *mitmRun {
	t.Helper()
	dir, err := os.MkdirTemp("", "ic")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Setenv("IRONCURTAIN_HOME", filepath.Join(dir, "home"))
	t.Setenv("HOME", home)
	ca := filepath.Join(dir, "upstream.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: upstream.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range mitm.Providers() {
		for _, name := range p.KeyVariables {
			t.Setenv(name, env[name])
		}
	}
	r := &mitmRun{t: t, socket: filepath.Join(dir, "m.sock"), state: filepath.Join(dir, "state"), audit: filepath.Join(dir, "audit.jsonl")}
	args := []string{"proxy", "mitm", "--socket", r.socket, "--state", r.state, "--audit", r.audit, "--upstream-ca", ca}
	for _, name := range providers {
		args = append(args, "--provider", name)
	}
	for _, host := range moved {
		args = append(args, "--upstream", host)
	}
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		code := run(ctx, args, strings.NewReader(""), in, &r.stderr)
		_ = in.CloseWithError(io.EOF)
		if code != cli.ExitOK {
			ended <- fmt.Errorf("exit %d: %s", code, r.stderr.String())
		}
		close(ended)
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || json.Unmarshal([]byte(line), &r.ready) != nil || !strings.HasPrefix(line, `{"ready":true,"socket":`) {
		cancel()
		t.Fatalf("ready line %q, %v; ended with %v", line, err, <-ended)
	}
	r.stop = func() error { cancel(); return <-ended }
	return r
}

// dial opens a tunnel to api.anthropic.com. TLS in it goes over what wrap makes
// of the connection.
func (r *mitmRun) dial(wrap func(net.Conn) net.Conn) *tls.Conn {
	r.t.Helper()
	c, err := net.Dial("unix", r.ready.Socket)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(c, "CONNECT api.anthropic.com:443 HTTP/1.1\r\nHost: api.anthropic.com:443\r\n\r\n")
	established := make([]byte, len("HTTP/1.1 200 Connection Established\r\n\r\n"))
	if _, err := io.ReadFull(c, established); err != nil {
		r.t.Fatal(err)
	}
	certificate, err := os.ReadFile(r.ready.CA)
	if err != nil {
		r.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	return tls.Client(wrap(c), &tls.Config{RootCAs: roots, ServerName: "api.anthropic.com"})
}

func unwrapped(c net.Conn) net.Conn { return c }

// send sends one request through a tunnel.
func (r *mitmRun) send(text string) (int, string) {
	r.t.Helper()
	s := r.dial(unwrapped)
	defer func() { _ = s.NetConn().Close() }()
	if _, err := io.WriteString(s, text); err != nil {
		r.t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(s), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func message(key string) string {
	const body = `{"model":"m","messages":[]}`
	return fmt.Sprintf("POST /v1/messages?beta=true HTTP/1.1\r\nHost: api.anthropic.com\r\nX-Api-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", key, len(body), body)
}

func TestProxyMITM(t *testing.T) {
	const key = "sk-ant-api03-the-real-key-0123456789"
	upstream := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != key {
			t.Errorf("the upstream got the key %q", r.Header.Get("X-Api-Key"))
		}
		_, _ = fmt.Fprintf(w, "you sent %s", r.Header.Get("X-Api-Key"))
	}))
	defer upstream.Close()
	r := startMITM(t, upstream, key)
	sentinel := r.ready.Sentinels["api.anthropic.com"]
	if !r.ready.Ready || !strings.HasPrefix(sentinel, "sk-ant-api03-ironcurtain-") || r.ready.CA != filepath.Join(r.state, "ca-cert.pem") {
		t.Fatalf("ready line %+v", r.ready)
	}
	if status, body := r.send(message(sentinel)); status != 200 || body != "you sent "+sentinel {
		t.Errorf("with the sentinel: %d %s", status, body)
	}
	if status, body := r.send(message("sk-ant-api03-another")); status != 403 || !strings.Contains(body, "does not match expected sentinel") {
		t.Errorf("with another key: %d %s", status, body)
	}
	if err := r.stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}
	if _, err := os.Lstat(r.socket); err == nil {
		t.Error("the socket is left behind")
	}
	log, err := os.ReadFile(r.audit)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(log), key) {
		t.Error("the audit shows the real key")
	}
	denials := 0
	if err := audit.Read(r.audit, func(l audit.Line) error {
		if l.Decision == audit.Deny && l.Reason == "credential" {
			denials++
		}
		return nil
	}); err != nil || denials != 1 {
		t.Errorf("%d denials in the audit, %v", denials, err)
	}
}

func TestProxyMITMRefusesToStart(t *testing.T) {
	dir := t.TempDir()
	socket, state, log := filepath.Join(dir, "s"), filepath.Join(dir, "state"), filepath.Join(dir, "a.jsonl")
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no flags":         {nil, cli.ExitUsage, "required"},
		"unknown provider": {[]string{"--socket", socket, "--provider", "acme", "--state", state, "--audit", log}, cli.ExitUsage, "acme"},
		"bad upstream":     {[]string{"--socket", socket, "--provider", "anthropic", "--state", state, "--audit", log, "--upstream", "x"}, cli.ExitUsage, "HOST=URL"},
		"other upstream":   {[]string{"--socket", socket, "--provider", "anthropic", "--state", state, "--audit", log, "--upstream", "example.com=https://x"}, cli.ExitUsage, "example.com"},
		"no CA file":       {[]string{"--socket", socket, "--provider", "anthropic", "--state", state, "--audit", log, "--upstream-ca", filepath.Join(dir, "none")}, cli.ExitFailure, "none"},
		"not a socket":     {[]string{"--socket", socket, "--provider", "anthropic", "--state", state, "--audit", log}, cli.ExitFailure, "not a socket"},
		"long path":        {[]string{"--socket", strings.Repeat("x", 120), "--provider", "anthropic", "--state", state, "--audit", log}, cli.ExitFailure, "103"},
		"audit":            {[]string{"--socket", socket, "--provider", "anthropic", "--state", state, "--audit", dir}, cli.ExitFailure, "audit"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := invoke(t, append([]string{"proxy", "mitm"}, c.args...)...)
			if code != c.code || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("exit code %d, stderr %q", code, stderr)
			}
		})
	}
}

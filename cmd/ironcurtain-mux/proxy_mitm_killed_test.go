package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

const killedKey = "sk-ant-api03-the-key-of-the-killed-0123456789"

// mitmProcess is "proxy mitm" in a process of its own, which can be killed.
type mitmProcess struct {
	mitmRun
	cmd *exec.Cmd
	dir string
}

func startMITMProcess(t *testing.T, dir, upstream string, change ...func(*exec.Cmd)) *mitmProcess {
	t.Helper()
	program, err := exec.LookPath("ironcurtain-mux")
	if err != nil {
		t.Fatal(err)
	}
	p := &mitmProcess{mitmRun: mitmRun{t: t}, dir: dir}
	p.cmd = exec.CommandContext(t.Context(), program, "proxy", "mitm", "--provider", "anthropic",
		"--socket", filepath.Join(dir, "m.sock"), "--state", filepath.Join(dir, "mitm"), "--audit", filepath.Join(dir, "audit.jsonl"),
		"--upstream", "api.anthropic.com="+upstream, "--upstream-ca", filepath.Join(dir, "upstream.pem"))
	p.cmd.Env = append(environment(dir, cacheDirectory(t)), "ANTHROPIC_API_KEY="+killedKey)
	p.cmd.Stderr = os.Stderr
	for _, c := range change {
		c(p.cmd)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &p.ready) != nil || !p.ready.Ready {
		t.Fatalf("ready line %q, %v", line, err)
	}
	t.Logf("serves after %v", time.Since(from).Round(time.Millisecond))
	return p
}

// kill ends the process at once and waits until it is gone.
func (p *mitmProcess) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// killer kills the proxy as soon as the first bytes of a handshake are written.
type killer struct {
	net.Conn
	p *mitmProcess
}

func (k *killer) Write(b []byte) (int, error) {
	n, err := k.Conn.Write(b)
	k.p.kill()
	return n, err
}

// TestMITMKilled kills the proxy in the middle of its work. The agent gets an
// error at once and nothing that looks whole, no key is left on the disk, and
// the next proxy serves at the same place with the same log.
func TestMITMKilled(t *testing.T) {
	for name, broken := range map[string]func(*mitmProcess, *atomic.Int64) error{
		"in a stream": func(p *mitmProcess, _ *atomic.Int64) error {
			c := p.dial(unwrapped)
			_, _ = io.WriteString(c, message(p.ready.Sentinels["api.anthropic.com"]))
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				return fmt.Errorf("too early: %w", err)
			}
			defer func() { _ = res.Body.Close() }()
			event := make([]byte, len("data: 1\n\n"))
			if _, err := io.ReadFull(res.Body, event); err != nil {
				t.Errorf("no event: %v", err)
			}
			p.kill()
			_, err = io.ReadAll(res.Body)
			return err
		},
		"in an upload": func(p *mitmProcess, asked *atomic.Int64) error {
			c := p.dial(unwrapped)
			text := message(p.ready.Sentinels["api.anthropic.com"])
			_, _ = io.WriteString(c, text[:len(text)-5])
			p.kill()
			if n := asked.Load(); n != 0 {
				t.Errorf("the upstream was asked %d times", n)
			}
			return answerOf(c)
		},
		"while it makes a certificate": func(p *mitmProcess, _ *atomic.Int64) error {
			return p.dial(func(c net.Conn) net.Conn { return &killer{Conn: c, p: p} }).Handshake()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			upstream := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, "data: 1\n\n")
				if asked.Add(1) == 1 && name == "in a stream" {
					w.(http.Flusher).Flush()
					<-r.Context().Done()
				}
			}))
			defer upstream.Close()
			dir := newHome(t)
			ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: upstream.Certificate().Raw})
			if err := os.WriteFile(filepath.Join(dir, "upstream.pem"), ca, 0o600); err != nil {
				t.Fatal(err)
			}
			p := startMITMProcess(t, dir, upstream.URL)
			from := time.Now()
			if err := broken(p, &asked); err == nil || strings.Contains(err.Error(), "too early") || os.IsTimeout(err) {
				t.Errorf("the agent saw %v after %v", err, time.Since(from))
			}
			keyless(t, dir)
			next := startMITMProcess(t, dir, upstream.URL)
			if status, body := next.send(message(next.ready.Sentinels["api.anthropic.com"])); status != 200 || body != "data: 1\n\n" {
				t.Errorf("the next proxy: %d %s", status, body)
			}
			next.kill()
			if err := audit.Read(filepath.Join(dir, "audit.jsonl"), func(audit.Line) error { return nil }); err != nil {
				t.Errorf("the log: %v", err)
			}
		})
	}
}

// TestMITMKilledWithoutSync kills a proxy that leaves it to the system when its
// records reach the disk. They stand before a request goes on all the same.
func TestMITMKilledWithoutSync(t *testing.T) {
	dir := newHome(t)
	log := filepath.Join(dir, "audit.jsonl")
	recorded := make(chan error, 1)
	upstream := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice the end of the connection
		text, err := os.ReadFile(log)
		if err == nil && !bytes.Contains(text, []byte(`"decision":"allow"`)) {
			err = errors.New("a request went on before its record was written")
		}
		recorded <- err
		<-r.Context().Done()
	}))
	defer upstream.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: upstream.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(dir, "upstream.pem"), ca, 0o600); err != nil {
		t.Fatal(err)
	}
	p := startMITMProcess(t, dir, upstream.URL, func(c *exec.Cmd) { c.Args = append(c.Args, "--no-sync") })
	c := p.dial(unwrapped)
	_, _ = io.WriteString(c, message(p.ready.Sentinels["api.anthropic.com"]))
	if err := <-recorded; err != nil {
		t.Error(err)
	}
	p.kill()
	allowed := 0
	if err := audit.Read(log, func(l audit.Line) error {
		if l.Decision == audit.Allow {
			allowed++
		}
		return nil
	}); err != nil || allowed != 1 {
		t.Errorf("%d records of it in the log, %v", allowed, err)
	}
}

// answerOf is the error of reading an answer, nil when there is one.
func answerOf(c *tls.Conn) error {
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err == nil {
		_ = res.Body.Close()
	}
	return err
}

// keyless says which files hold a credential or the key of a certificate.
func keyless(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, secret := range []string{killedKey, "PRIVATE KEY"} {
			if bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s holds %q", path, secret)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestMITMKilledInARenewal kills the proxy between the moment in which the token
// service has changed a login and the one in which it is stored. Nobody has the new
// login then; the next proxy says so, and what to do.
func TestMITMKilledInARenewal(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	var calls atomic.Int64
	upstream := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/oauth/token") {
			t.Errorf("the provider was asked for %s", r.URL.Path)
		}
		if calls.Add(1) == 1 {
			close(asked)
			<-release
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
	}))
	defer upstream.Close()
	defer close(release)
	dir := newHome(t)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: upstream.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(dir, "upstream.pem"), ca, 0o600); err != nil {
		t.Fatal(err)
	}
	writeClaudeLogin(t, filepath.Join(dir, "user"), &loginProvider{access: "sk-ant-oat01-the-real-token-0", refresh: "sk-ant-ort01-the-refresh-token-0"}, time.Now().Add(-time.Hour))
	withLogin := func(c *exec.Cmd) {
		c.Args = append(c.Args, "--upstream", "platform.claude.com="+upstream.URL)
		c.Env = append(c.Env, "ANTHROPIC_API_KEY=")
	}
	p := startMITMProcess(t, dir, upstream.URL, withLogin)
	c := p.dial(unwrapped)
	_, _ = io.WriteString(c, bearerMessage(p.ready.Sentinels["api.anthropic.com"]))
	answered := make(chan error, 1)
	go func() { answered <- answerOf(c) }()
	select {
	case <-asked:
	case err := <-answered:
		t.Fatalf("nothing was renewed: %v", err)
	}
	p.kill()
	if err := <-answered; err == nil {
		t.Error("the agent got an answer of a proxy that was killed")
	}
	next := startMITMProcess(t, dir, upstream.URL, withLogin)
	defer next.kill()
	for range 2 {
		status, body := next.send(bearerMessage(next.ready.Sentinels["api.anthropic.com"]))
		if status != 401 || !strings.Contains(body, "was cut off at") || !strings.Contains(body, "run 'claude /login' on the host") {
			t.Errorf("the next proxy: %d %s", status, body)
		}
	}
	if n := calls.Load(); n != 2 {
		t.Errorf("the token service was asked %d times", n)
	}
}

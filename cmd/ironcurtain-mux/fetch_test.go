package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fetchPolicy lets agents fetch from one address of this machine.
const fetchPolicy = `{"generatedAt":"2026-01-01T00:00:00Z","constitutionHash":"","inputHash":"","rules":[{"name":"allow-local","description":"d","principle":"p",
 "if":{"server":["fetch"],"tool":["http_fetch"],"domains":{"roles":["fetch-url"],"allowed":["https://localhost:%s"]}},"then":"allow","reason":"r"}]}`

// TestFetchFromTheCommandLine runs the program as people do: the proxy, which
// starts the fetch server out of the same program in a sandbox without network,
// and a web server with TLS on this machine.
func TestFetchFromTheCommandLine(t *testing.T) {
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "https://127.0.0.1"+r.Host[strings.IndexByte(r.Host, ':'):]+"/page", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<h1>Manual</h1><p>Read <em>this</em>.</p>")
	}))
	certificate := certificateFor(t, "localhost")
	web.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	web.StartTLS()
	defer web.Close()
	port := web.Listener.Addr().String()[strings.LastIndexByte(web.Listener.Addr().String(), ':')+1:]
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	program, err := exec.LookPath("ironcurtain-mux")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(map[string]any{"fetch": map[string]any{
		"command": program, "args": []string{"serve", "fetch"},
		"sandbox": map[string]any{"network": map[string]any{"judged": true, "private": []string{"localhost:" + port}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	roots := write("roots.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}))
	proxy := exec.CommandContext(t.Context(), program, "proxy", "mcp", "--servers", write("servers.json", list), "--stdio", "--sandbox", work,
		"--policy", write("compiled-policy.json", fmt.Appendf(nil, fetchPolicy, port)), "--audit", filepath.Join(dir, "audit.jsonl"))
	proxy.Env = append(environment(dir, cacheDirectory(t)), "SSL_CERT_FILE="+roots)
	proxy.Stdin = strings.NewReader(strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fetch__http_fetch","arguments":{"url":"https://LOCALHOST:` + port + `/page"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"fetch__http_fetch","arguments":{"url":"https://localhost:` + port + `/away"}}}`,
	}, "\n") + "\n")
	var out, complaints bytes.Buffer
	proxy.Stdout, proxy.Stderr = &out, &complaints
	if err := proxy.Run(); err != nil {
		t.Fatalf("%v: %s", err, complaints.String())
	}
	for _, want := range []string{"# Manual", "Read *this*.", "redirects to https://127.0.0.1:" + port + "/page, which was not followed: rule default-deny denies it"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// certificateFor makes a certificate for a name, which is its own authority.
func certificateFor(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

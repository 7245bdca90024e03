package docker

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// secureRelay makes the machine's engine one that wants the certificates of an authority of its own.
// It returns its address, and the directory of a person who has them.
func secureRelay(t *testing.T) (address, dir string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config, dir := certificates(t)
	startRelay(t, tls.NewListener(l, config))
	return "tcp://" + l.Addr().String(), dir
}

// inContext keeps certificates as the docker command does for a context, and names the context's
// engine. It returns the docker command's directory.
func inContext(t *testing.T, name, address, dir string) string {
	t.Helper()
	config := shortDir(t)
	writeContextMeta(t, config, name, `{"Name":"`+name+`","Endpoints":{"docker":{"Host":"`+address+`"}}}`)
	sum := sha256.Sum256([]byte(name))
	kept := filepath.Join(config, "contexts", "tls", hex.EncodeToString(sum[:]), "docker")
	for _, file := range []string{"ca.pem", "cert.pem", "key.pem"} {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(kept, file), string(data))
	}
	return config
}

// An engine elsewhere with an authority of its own is reached with what a docker context or the
// environment has for it: requests, terminals, programs and streams.
func TestAnEngineWithTLS(t *testing.T) {
	address, dir := secureRelay(t)
	for name, env := range map[string]map[string]string{
		"a context":       {"DOCKER_CONFIG": inContext(t, "far", address, dir), "DOCKER_CONTEXT": "far"},
		"the environment": {"DOCKER_HOST": address, "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": dir},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Choice{}.Connect(deadline(t, patience), func(k string) string { return env[k] }, shortDir(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close(deadline(t, patience)) })
			ct := start(t, c, nil, "sh", "-c", "read line; echo heard $line; exit 7")
			if _, err := ct.Write([]byte("this\n")); err != nil {
				t.Fatal(err)
			}
			if said := readAll(t, ct); !strings.Contains(said, "heard this\r\n") {
				t.Errorf("the terminal says %q", said)
			}
			if exit, err := ct.Wait(deadline(t, patience)); err != nil || exit.Code != 7 {
				t.Errorf("it ended with %+v, %v", exit, err)
			}
			h := detached(t, c, nil, "sleep", "1000")
			if got := inside(t, c, h.ID(), "echo inside"); got != "inside" {
				t.Errorf("the program says %q", got)
			}
			conn := open(t, c, h.ID(), "cat")
			if _, err := io.WriteString(conn, "both ways"); err != nil {
				t.Fatal(err)
			}
			closeWrite(t, conn)
			if got, err := io.ReadAll(conn); err != nil || string(got) != "both ways" {
				t.Errorf("the stream says %q, %v", got, err)
			}
		})
	}
}

// Certificates of another authority are not accepted, on either side.
func TestAnEngineWithOtherCertificates(t *testing.T) {
	address, _ := secureRelay(t)
	_, other := certificates(t)
	env := map[string]string{"DOCKER_CONFIG": inContext(t, "far", address, other), "DOCKER_CONTEXT": "far"}
	_, err := Choice{}.Connect(deadline(t, patience), func(k string) string { return env[k] }, shortDir(t))
	if !errors.Is(err, ErrEngineRefuses) || !strings.Contains(err.Error(), "certificate") || fault.Hint(err) == "" {
		t.Errorf("%v (%s)", err, fault.Hint(err))
	}
}

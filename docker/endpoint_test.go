package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// listen makes a socket at path that accepts nothing.
func listen(t testing.TB, path string) net.Listener {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func writeContextMeta(t testing.TB, config, name, meta string) {
	t.Helper()
	sum := sha256.Sum256([]byte(name))
	write(t, filepath.Join(config, "contexts", "meta", hex.EncodeToString(sum[:]), "meta.json"), meta)
}

func TestResolveWithoutAChoice(t *testing.T) {
	colima := `{"Name":"colima","Endpoints":{"docker":{"Host":"unix:///tmp/colima.sock","SkipTLSVerify":false}}}`
	tests := []struct {
		name    string
		env     map[string]string
		setup   func(t *testing.T, home string)
		address string // HOME is replaced; empty: an error
		source  string
		err     string
	}{
		{
			"DOCKER_HOST wins",
			map[string]string{"DOCKER_HOST": "unix:///a.sock", "DOCKER_CONTEXT": "colima"},
			nil,
			"unix:///a.sock", "DOCKER_HOST", "",
		},
		{
			"a tcp address",
			map[string]string{"DOCKER_HOST": "tcp://127.0.0.1:2375"},
			nil,
			"tcp://127.0.0.1:2375", "DOCKER_HOST", "",
		},
		{"ssh", map[string]string{"DOCKER_HOST": "ssh://me@there:22/run/docker.sock", "DOCKER_TLS_VERIFY": "1"}, nil, "ssh://me@there:22/run/docker.sock", "DOCKER_HOST", ""},
		{"a relative socket", map[string]string{"DOCKER_HOST": "unix://docker.sock"}, nil, "", "", "not an absolute path"},
		{"a long socket", map[string]string{"DOCKER_HOST": "unix:///" + strings.Repeat("x", 110)}, nil, "", "", "bytes long"},
		{"no scheme", map[string]string{"DOCKER_HOST": "somewhere"}, nil, "", "", "unknown kind of address"},
		{"no host", map[string]string{"DOCKER_HOST": "tcp://"}, nil, "", "", "names no host"},
		{"DOCKER_CONTEXT", map[string]string{"DOCKER_CONTEXT": "colima"}, func(t *testing.T, home string) {
			t.Helper()
			writeContextMeta(t, filepath.Join(home, ".docker"), "colima", colima)
		}, "unix:///tmp/colima.sock", "context colima (DOCKER_CONTEXT)", ""},
		{"the current context", nil, func(t *testing.T, home string) {
			t.Helper()
			write(t, filepath.Join(home, ".docker/config.json"), `{"auths":{},"currentContext":"colima"}`)
			writeContextMeta(t, filepath.Join(home, ".docker"), "colima", colima)
		}, "unix:///tmp/colima.sock", "context colima", ""},
		{"DOCKER_CONFIG moves both", map[string]string{"DOCKER_CONFIG": "HOME/elsewhere"}, func(t *testing.T, home string) {
			t.Helper()
			write(t, filepath.Join(home, "elsewhere/config.json"), `{"currentContext":"colima"}`)
			writeContextMeta(t, filepath.Join(home, "elsewhere"), "colima", colima)
		}, "unix:///tmp/colima.sock", "context colima", ""},
		{"a context that is not there", map[string]string{"DOCKER_CONTEXT": "gone"}, nil, "", "", `context "gone" does not exist`},
		{"a context with another name inside", map[string]string{"DOCKER_CONTEXT": "other"}, func(t *testing.T, home string) {
			t.Helper()
			writeContextMeta(t, filepath.Join(home, ".docker"), "other", colima)
		}, "", "", `that of "colima"`},
		{"a context without an engine", map[string]string{"DOCKER_CONTEXT": "k"}, func(t *testing.T, home string) {
			t.Helper()
			writeContextMeta(t, filepath.Join(home, ".docker"), "k", `{"Name":"k","Endpoints":{}}`)
		}, "", "", "names no engine"},
		{"a broken context", map[string]string{"DOCKER_CONTEXT": "k"}, func(t *testing.T, home string) {
			t.Helper()
			writeContextMeta(t, filepath.Join(home, ".docker"), "k", `{"Name":`)
		}, "", "", "unexpected end of JSON"},
		{"a broken config.json", nil, func(t *testing.T, home string) {
			t.Helper()
			write(t, filepath.Join(home, ".docker/config.json"), `{`)
		}, "", "", "config.json"},
		{"a huge config.json", nil, func(t *testing.T, home string) {
			t.Helper()
			write(t, filepath.Join(home, ".docker/config.json"), strings.Repeat(" ", 1<<20+1))
		}, "", "", "larger than"},
		{"an ssh context", map[string]string{"DOCKER_CONTEXT": "far"}, func(t *testing.T, home string) {
			t.Helper()
			writeContextMeta(t, filepath.Join(home, ".docker"), "far", `{"Name":"far","Endpoints":{"docker":{"Host":"ssh://x"}}}`)
		}, "ssh://x", "context far (DOCKER_CONTEXT)", ""},
		{
			"another machine over plain TCP",
			map[string]string{"DOCKER_HOST": "tcp://far:2375"},
			nil, "", "",
			"far is another machine, and the connection would be neither encrypted nor authenticated",
		},
		{"this machine over plain HTTP", map[string]string{"DOCKER_HOST": "http://[::1]:2375"}, nil, "http://[::1]:2375", "DOCKER_HOST", ""},
		{"another machine with TLS", map[string]string{"DOCKER_HOST": "tcp://far:2376", "DOCKER_TLS_VERIFY": "1"}, nil, "tcp://far:2376", "DOCKER_HOST", ""},
		{"a context to another machine over plain TCP", map[string]string{"DOCKER_CONTEXT": "far"}, func(t *testing.T, home string) {
			t.Helper()
			writeContextMeta(t, filepath.Join(home, ".docker"), "far", `{"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:2375"}}}`)
		}, "", "", "far is another machine"},
		{
			"the default context is no context",
			map[string]string{"DOCKER_CONTEXT": "default", "DOCKER_HOST": "unix:///x"},
			nil,
			"unix:///x", "DOCKER_HOST", "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := shortDir(t)
			if tt.setup != nil {
				tt.setup(t, home)
			}
			getenv := func(k string) string { return strings.ReplaceAll(tt.env[k], "HOME", home) }
			e, err := Choice{}.Resolve(getenv, home)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want one with %q", err, tt.err)
				}
				if fault.Hint(err) == "" {
					t.Errorf("error %v has no hint", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if e.Address != tt.address || e.Source != tt.source {
				t.Errorf("got %q from %q, want %q from %q", e.Address, e.Source, tt.address, tt.source)
			}
		})
	}
}

func TestWellKnownSockets(t *testing.T) {
	home := shortDir(t)
	runtime := filepath.Join(home, "run")
	getenv := func(k string) string {
		return map[string]string{"XDG_RUNTIME_DIR": runtime, "TMPDIR": filepath.Join(home, "tmp")}[k]
	}
	want := map[string]string{
		filepath.Join(runtime, "docker.sock"):                                     "rootless engine",
		filepath.Join(home, ".docker/run/docker.sock"):                            "Docker Desktop",
		filepath.Join(home, ".docker/desktop/docker.sock"):                        "Docker Desktop",
		filepath.Join(home, ".colima/default/docker.sock"):                        "Colima",
		filepath.Join(home, ".colima/docker.sock"):                                "Colima",
		filepath.Join(home, ".config/colima/default/docker.sock"):                 "Colima",
		filepath.Join(home, ".orbstack/run/docker.sock"):                          "OrbStack",
		filepath.Join(home, ".rd/docker.sock"):                                    "Rancher Desktop",
		filepath.Join(runtime, "podman/podman.sock"):                              "rootless Podman",
		filepath.Join(home, ".local/share/containers/podman/machine/podman.sock"): "Podman machine",
		filepath.Join(home, "tmp/podman/podman-machine-default-api.sock"):         "Podman machine",
	}
	for _, s := range wellKnownSockets(getenv, home) {
		if name, ok := want[s.path]; ok {
			if s.name != name {
				t.Errorf("%s is called %q, want %q", s.path, s.name, name)
			}
			delete(want, s.path)
			if isSocket(s.path) {
				t.Errorf("%s is taken for a socket before it exists", s.path)
			}
			listen(t, s.path)
			if !isSocket(s.path) {
				t.Errorf("%s is not recognized as a socket", s.path)
			}
		}
	}
	for path := range want {
		t.Run(path, func(t *testing.T) {
			t.Errorf("%s is not looked for", path)
		})
	}
}

func TestContextCertificates(t *testing.T) {
	home := shortDir(t)
	config := filepath.Join(home, ".docker")
	writeContextMeta(t, config, "far", `{"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:2376"}}}`)
	sum := sha256.Sum256([]byte("far"))
	certs := filepath.Join(config, "contexts/tls", hex.EncodeToString(sum[:]), "docker")
	write(t, filepath.Join(certs, "ca.pem"), "not a certificate")
	getenv := func(k string) string { return map[string]string{"DOCKER_CONTEXT": "far"}[k] }
	e, err := Choice{}.Resolve(getenv, home)
	if err != nil {
		t.Fatal(err)
	}
	if e.CertDir != certs {
		t.Errorf("certificates in %q, want %q", e.CertDir, certs)
	}
	// An unusable certificate is an error, never a connection without check.
	if _, err := newDialer(e); !errors.Is(err, ErrEndpoint) {
		t.Errorf("a broken ca.pem gives %v", err)
	}
}

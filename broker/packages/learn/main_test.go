package learn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets this program be Cargo when it is called so.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "cargo" {
		os.Exit(pretendCargo())
	}
	goleak.VerifyTestMain(m)
}

// pretendCargo looks for the index that the file index beside it names, as Cargo would.
func pretendCargo() int {
	index, err := os.ReadFile(filepath.Join(filepath.Dir(os.Args[0]), "index"))
	if err == nil {
		err = lookFor(strings.TrimSpace(string(index)))
	}
	fmt.Fprintln(os.Stderr, "error:", err)
	return 101
}

// lookFor asks for an address through the proxy that Cargo was told of.
func lookFor(address string) error {
	for _, file := range []string{"Cargo.toml", "src/lib.rs"} {
		if _, err := os.Stat(file); err != nil {
			return err
		}
	}
	proxy, err := url.Parse(os.Getenv("CARGO_HTTP_PROXY"))
	if err != nil {
		return err
	}
	root, err := os.ReadFile(os.Getenv("CARGO_HTTP_CAINFO"))
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(root)
	client := http.Client{Transport: &http.Transport{
		Proxy:           http.ProxyURL(proxy),
		TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
	}}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	answer.Body.Close()
	return fmt.Errorf("the registry answered %d", answer.StatusCode)
}

// tools is a directory of programs that pretend to be tools.
type tools struct{ dir, home, state string }

func newTools(t *testing.T) tools {
	t.Helper()
	w := tools{dir: t.TempDir(), home: t.TempDir(), state: t.TempDir()}
	for _, name := range []string{"head", "ls", "tail"} { // of which the scripts are made
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(w.dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// add makes a program: a script in which a case is a command line. It fails where the
// environment is not clean or the directory not empty.
func (w tools) add(t *testing.T, name string, cases ...string) {
	t.Helper()
	script := `#!/bin/sh
[ -z "$SECRET" ] || { echo "the environment is not clean" >&2; exit 3; }
[ -z "$(ls -A)" ] || { echo "the directory is not empty" >&2; exit 3; }
[ "$HOME" = ` + w.home + ` ] || { echo "HOME is $HOME" >&2; exit 3; }
case "$*" in
`
	for _, c := range cases {
		script += c + " ;;\n"
	}
	script += `*) echo "unknown command line: $*" >&2; exit 2 ;;
esac
`
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// addCargo makes this program Cargo, with an index.
func (w tools) addCargo(t *testing.T, index string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(w.dir, "cargo")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.dir, "index"), index)
}

// host is a machine with these tools and no other.
func (w tools) host(more ...string) Host {
	return Host{
		Env:  append([]string{"HOME=" + w.home, "PATH=" + w.dir + ":bin:.", "SECRET=hunter2"}, more...),
		Home: w.home, Dir: w.state, System: w.home, Offline: true,
	}
}

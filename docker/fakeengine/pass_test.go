package fakeengine_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
)

// Without faults it is the real engine: containers, attachments, exit codes.
func TestWithoutFaultsItIsTheEngine(t *testing.T) {
	want, socket := realEngine(t)
	for _, tt := range []struct {
		name  string
		start func(testing.TB, string, fakeengine.Faults) *fakeengine.Engine
	}{{"unix", fakeengine.Start}, {"tls", fakeengine.StartTLS}} {
		t.Run(tt.name, func(t *testing.T) {
			e := tt.start(t, socket, fakeengine.Faults{})
			c := connect(t, docker.Endpoint{Address: e.Address(), CertDir: e.CertDir(), Source: "test"})
			got, err := c.Version(deadline(t))
			if err != nil {
				t.Fatal(err)
			}
			reference, err := want.Version(deadline(t))
			if err != nil {
				t.Fatal(err)
			}
			if got.Kernel != reference.Kernel || got.Version != reference.Version || got.MemoryBytes != reference.MemoryBytes {
				t.Errorf("it says %+v, the real one %+v", got, reference)
			}
			s := spec(t)
			s.Cmd = []string{"sh", "-c", `stty -echo; echo ready; read line; echo "heard $line"; exit 7`}
			ct := start(t, c, s)
			buffer := make([]byte, 64)
			for said := ""; !strings.Contains(said, "ready\r\n"); {
				n, err := ct.Read(buffer)
				if err != nil {
					t.Fatalf("%v after %q", err, said)
				}
				said += string(buffer[:n])
			}
			if _, err := ct.Write([]byte("this\n")); err != nil {
				t.Fatal(err)
			}
			if said, err := io.ReadAll(ct); err != nil || !strings.Contains(string(said), "heard this\r\n") {
				t.Errorf("it said %q, %v", said, err)
			}
			if exit, err := ct.Wait(deadline(t)); err != nil || exit.Code != 7 {
				t.Errorf("the end: %+v, %v", exit, err)
			}
		})
	}
}

// Nobody without the certificate is served.
func TestTLSWantsTheCertificate(t *testing.T) {
	_, socket := realEngine(t)
	e := fakeengine.StartTLS(t, socket, fakeengine.Faults{})
	other := fakeengine.StartTLS(t, socket, fakeengine.Faults{})
	for name, dir := range map[string]string{"plain": "", "of another authority": other.CertDir()} {
		t.Run(name, func(t *testing.T) {
			if _, err := docker.Connect(deadline(t), docker.Endpoint{Address: e.Address(), CertDir: dir, Source: "test"}); err == nil {
				t.Error("it answered")
			}
		})
	}
}

// Both answers with which an engine begins a stream pass, and the end of the input does.
func TestStreamsBeginAndHalfClose(t *testing.T) {
	c, e := through(t, fakeengine.Faults{})
	ct := start(t, c, spec(t))
	for _, tt := range []struct {
		name    string
		upgrade bool
		faults  fakeengine.Faults
		want    int
	}{
		{"upgraded", true, fakeengine.Faults{}, http.StatusSwitchingProtocols},
		{"not asked for", false, fakeengine.Faults{}, http.StatusOK},
		{"not upgraded", true, fakeengine.Faults{NoUpgrade: true}, http.StatusOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e.Set(tt.faults)
			conn, in, status := execute(t, e.Address(), ct.ID(), "cat; echo end", tt.upgrade)
			if status != tt.want {
				t.Fatalf("status %d, want %d", status, tt.want)
			}
			if _, err := conn.Write([]byte("hello\n")); err != nil {
				t.Fatal(err)
			}
			if got := output(t, in, 6); got != "hello\n" {
				t.Errorf("the echo is %q", got)
			}
			if err := conn.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if got := rest(t, in); got != "end\n" {
				t.Errorf("the end is %q", got)
			}
		})
	}
	e.Set(fakeengine.Faults{})
	if _, _, status := execute(t, e.Address(), ct.ID(), "true", true); status != http.StatusSwitchingProtocols {
		t.Fatal(status)
	}
	if status, body := ask(t, e.Address(), http.MethodPost, "/exec/0123456789/start", "{}"); status != http.StatusNotFound || !strings.Contains(body, "message") {
		t.Errorf("a refused stream: %d, %q", status, body)
	}
}

// Much passes unchanged, in both directions at once.
func TestLargeStreams(t *testing.T) {
	c, e := through(t, fakeengine.Faults{})
	ct := start(t, c, spec(t))
	conn, in, _ := execute(t, e.Address(), ct.ID(), "cat", true)
	block := bytes.Repeat([]byte("0123456789abcdef"), 4096)
	const blocks = 256 // 16 MiB
	sent, received := sha256.New(), sha256.New()
	wrote := make(chan error, 1)
	go func() {
		for i := range blocks {
			block := append(bytes.Clone(block), byte(i))
			sent.Write(block)
			if _, err := conn.Write(block); err != nil {
				wrote <- err
				return
			}
		}
		wrote <- conn.CloseWrite()
	}()
	n, err := 0, error(nil)
	for err == nil {
		var piece []byte
		piece, err = frame(in)
		n += len(piece)
		received.Write(piece)
	}
	if sentErr := <-wrote; !errors.Is(err, io.EOF) || sentErr != nil {
		t.Fatalf("%v and %v after %d bytes", err, sentErr, n)
	}
	if n != blocks*(len(block)+1) || !bytes.Equal(sent.Sum(nil), received.Sum(nil)) {
		t.Errorf("%d bytes came, other ones than were sent", n)
	}
}

// A build's context of some size passes, and its log.
func TestBuild(t *testing.T) {
	c, e := through(t, fakeengine.Faults{})
	var files bytes.Buffer
	out := tar.NewWriter(&files)
	for name, content := range map[string]string{
		"Dockerfile": "FROM " + spec(t).Image + "\nLABEL fakeengine=" + t.Name() + "\n",
		"ballast":    strings.Repeat("ballast ", 1<<20),
	} {
		err := out.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content))})
		if err == nil {
			_, err = io.WriteString(out, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	status, log := ask(t, e.Address(), http.MethodPost, "/build?q=0", files.String())
	if status != http.StatusOK || !strings.Contains(log, "Successfully built") {
		t.Fatalf("status %d: %s", status, log)
	}
	var id string
	for line := range strings.SplitSeq(strings.TrimSpace(log), "\n") {
		var said struct{ Aux struct{ ID string } }
		if err := json.Unmarshal([]byte(line), &said); err == nil && said.Aux.ID != "" {
			id = said.Aux.ID
		}
	}
	if status, body := ask(t, c.Endpoint().Address, http.MethodDelete, "/images/"+id+"?force=1", ""); status != http.StatusOK {
		t.Errorf("remove %q: %d, %s", id, status, body)
	}
}

// The engine's own words about itself can be replaced.
func TestItSaysWhatItIs(t *testing.T) {
	c, e := through(t, fakeengine.Faults{Kernel: "6.6.12-linuxkit", OS: "Docker Desktop", Architecture: "aarch64"})
	info, err := c.Version(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	if info.Kernel != "6.6.12-linuxkit" || info.OS != "Docker Desktop" || info.Architecture != "aarch64" {
		t.Errorf("it is %+v", info)
	}
	if _, body := ask(t, e.Address(), http.MethodGet, "/v1.40/version", ""); strings.Count(body, `"KernelVersion":"6.6.12-linuxkit"`) != 2 || strings.Count(body, `"Arch":"arm64"`) != 2 {
		t.Errorf("its version is %s", body)
	}
	e.Set(fakeengine.Faults{})
	if info, err = c.Version(deadline(t)); err != nil || info.OS == "Docker Desktop" {
		t.Errorf("it is still %+v, %v", info, err)
	}
}

// It leaves nothing behind.
func TestTheEnd(t *testing.T) {
	_, socket := realEngine(t)
	var address string
	t.Run("while it runs", func(t *testing.T) {
		address = fakeengine.Start(t, socket, fakeengine.Faults{}).Address()
	})
	if _, err := os.Stat(strings.TrimPrefix(address, "unix://")); !os.IsNotExist(err) {
		t.Errorf("its socket: %v", err)
	}
}

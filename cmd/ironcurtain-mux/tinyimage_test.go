package main

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// importTiny gives an engine a small image of this machine's own programs under the name of the
// shell's: it takes a second where the real one takes minutes.
func importTiny(t *testing.T, socket string) {
	t.Helper()
	address := "unix://" + socket
	c, err := docker.Connect(t.Context(), docker.Endpoint{Address: address, Source: "test"})
	if err != nil {
		t.Fatal(err)
	}
	tag, _, err := c.ImageTag(t.Context(), "shell", standardRecipe)
	if err != nil {
		t.Fatal(err)
	}
	repository, version, _ := strings.Cut(tag, ":")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	post := func(path string, body io.Reader) string {
		answer, err := client.Post("http://engine/images/"+path, "application/x-tar", body)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		said, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode >= 300 {
			t.Fatalf("%v: %s: %s", err, answer.Status, said)
		}
		return string(said)
	}
	said := post("create?fromSrc=-", bytes.NewReader(tinyRoot(t)))
	id := regexp.MustCompile(`sha256:[0-9a-f]{64}`).FindString(said)
	if id == "" {
		t.Fatalf("the engine tells no image: %s", said)
	}
	post(fmt.Sprintf("%s/tag?repo=%s&tag=%s", id, repository, version), nil) // Podman names none while it imports
	if _, there, err := c.ImageTag(t.Context(), "shell", standardRecipe); err != nil || !there {
		t.Fatalf("the image %s is not there: %v", tag, err)
	}
}

// tinyRoot is a root file system with a shell, a few programs and what they are linked with.
func tinyRoot(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	add := func(h tar.Header, data []byte) {
		h.Size = int64(len(data))
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	have := map[string]bool{}
	var directory func(path string)
	directory = func(path string) { // with those above, which Docker makes for itself only
		if path != "." && !have[path] {
			have[path] = true
			directory(filepath.Dir(path))
			add(tar.Header{Name: path + "/", Mode: 0o755, Typeflag: tar.TypeDir}, nil)
		}
	}
	file := func(as, from string) {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		as = strings.TrimPrefix(as, "/")
		directory(filepath.Dir(as))
		add(tar.Header{Name: as, Mode: 0o755, Typeflag: tar.TypeReg}, data)
	}
	for _, dir := range []string{"bin", "usr/bin", "usr/local/bin", "etc/ssl/certs", "proc", "sys", "dev", "tmp", "var/tmp", "run", "root", "home"} {
		directory(dir)
	}
	for _, name := range []string{"bash", "cat", "dash", "grep", "id", "sleep", "stty"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		file("/usr/bin/"+name, path)
		linked, err := exec.Command("ldd", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, library := range regexp.MustCompile(`/[^ ]+`).FindAllString(string(linked), -1) {
			if !have[library] {
				have[library] = true
				file(library, library)
			}
		}
	}
	for name, program := range map[string]string{"sh": "dash", "bash": "bash"} {
		add(tar.Header{Name: "bin/" + name, Linkname: "/usr/bin/" + program, Typeflag: tar.TypeSymlink}, nil)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

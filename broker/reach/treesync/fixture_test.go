package treesync

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tb is what the T of rapid and that of testing have in common.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// pair is a directory on each side, and both ends that keep them equal.
type pair struct {
	t               tb
	host, container string // directories
	options         Options
	server          *Server
	client          *Client
	tree            *Tree
	served          chan error
}

// newPair connects two empty directories. Call close at the end.
func newPair(t tb, dir string, change ...func(*Options)) *pair {
	t.Helper()
	p := &pair{t: t, host: filepath.Join(dir, "here"), container: filepath.Join(dir, "there")}
	must(t, os.MkdirAll(p.host, 0o755))
	must(t, os.MkdirAll(p.container, 0o755))
	p.options = Options{Name: "workspace", Dir: p.host, Note: filepath.Join(dir, "note")}
	for _, f := range change {
		f(&p.options)
	}
	p.newServer()
	p.connect()
	p.open()
	return p
}

// start is newPair for a test.
func start(t *testing.T, change ...func(*Options)) *pair {
	t.Helper()
	p := newPair(t, t.TempDir(), change...)
	t.Cleanup(p.close)
	return p
}

func (p *pair) newServer() { p.server = NewServer(map[string]string{"workspace": p.container}) }

// connect makes a new connection to the server.
func (p *pair) connect() {
	a, b := net.Pipe()
	p.client, p.served = NewClient(a), make(chan error, 1)
	server, served := p.server, p.served
	go func() { served <- server.Serve(context.Background(), b) }()
}

func (p *pair) disconnect() {
	p.client.Close()
	<-p.served
}

func (p *pair) open() {
	p.t.Helper()
	tree, err := Open(p.options)
	must(p.t, err)
	p.tree = tree
}

func (p *pair) close() {
	p.disconnect()
	must(p.t, p.tree.Close())
}

// sync synchronises, and fails the test if that fails.
func (p *pair) sync() Report {
	p.t.Helper()
	r, err := p.tree.Sync(context.Background(), p.client)
	must(p.t, err)
	return r
}

// equal fails the test where the two sides differ.
func (p *pair) equal() {
	p.t.Helper()
	host, container := listing(p.t, p.host), listing(p.t, p.container)
	for path, is := range host {
		if container[path] != is {
			p.t.Fatalf("%s is %q here and %q there", path, is, container[path])
		}
	}
	for path, is := range container {
		if _, ok := host[path]; !ok {
			p.t.Fatalf("%s is %q there only", path, is)
		}
	}
}

func must(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// listing describes each path below a directory.
func listing(t tb, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, dir+"/")
		switch {
		case info.IsDir():
			all[name] = fmt.Sprintf("directory %o", info.Mode().Perm()|0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all[name] = "link " + target
			return err
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			all[name] = fmt.Sprintf("file %o %s", info.Mode().Perm()|0o600, content)
			return err
		default:
			all[name] = "odd"
		}
		return nil
	})
	must(t, err)
	return all
}

// write writes files, "path": "content". A path that ends in "/" is a directory, the content
// "@target" makes a link, and "" removes the path. Removals go first, and nothing is written
// through a link.
func write(t tb, dir string, files map[string]string) {
	t.Helper()
	for path, content := range files {
		if content == "" && !strings.HasSuffix(path, "/") {
			must(t, os.RemoveAll(filepath.Join(dir, path)))
		}
	}
	for path, content := range files {
		full := filepath.Join(dir, path)
		if info, err := os.Lstat(full); err == nil && (info.IsDir() || info.Mode()&fs.ModeSymlink != 0) && content != "" {
			must(t, os.RemoveAll(full))
		}
		var err error
		switch {
		case strings.HasSuffix(path, "/"):
			err = os.MkdirAll(full, 0o755)
		case content == "":
		case content[0] == '@':
			err = errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.RemoveAll(full), os.Symlink(content[1:], full))
		default:
			err = errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(content), 0o644))
		}
		must(t, err)
	}
}

// wantFiles fails the test unless a directory has exactly these files and links.
func wantFiles(t tb, dir string, want map[string]string) {
	t.Helper()
	got := listing(t, dir)
	for path, is := range got {
		if strings.HasPrefix(is, "directory") {
			continue
		}
		content := is[strings.LastIndexByte(is, ' ')+1:]
		if strings.HasPrefix(is, "link") {
			content = "@" + content
		}
		if want[path] != content {
			t.Fatalf("%s is %q, not %q", path, is, want[path])
		}
	}
	for path := range want {
		if _, ok := got[path]; !ok {
			t.Fatalf("%s is missing of %v", path, got)
		}
	}
}

package treesync

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// Whatever both sides do between Syncs, and whichever end is restarted meanwhile, both are equal
// after each Sync, and nothing that either wrote is lost.
func TestEqualAndNothingLost(t *testing.T) {
	top := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(top, "")
		must(t, err)
		p := newPair(t, dir)
		defer os.RemoveAll(dir)
		defer p.close()
		serial := 0
		agreed := map[string]string{}
		for range rapid.IntRange(1, 5).Draw(t, "syncs") {
			for _, side := range []string{p.host, p.container} {
				for range rapid.IntRange(0, 6).Draw(t, "edits") {
					serial++
					edit(t, side, serial)
				}
			}
			p.restart(t, &agreed)
			written := map[string]bool{}
			for _, side := range []string{p.host, p.container} {
				for path, is := range listing(t, side) {
					if strings.HasPrefix(is, "file") && agreed[path] != is {
						written[is[strings.LastIndexByte(is, ' '):]] = true
					}
				}
			}
			p.sync()
			p.equal()
			agreed = listing(t, p.host)
			for _, is := range agreed {
				delete(written, is[strings.LastIndexByte(is, ' '):])
			}
			if len(written) > 0 {
				t.Fatalf("lost: %v; there is %v", written, agreed)
			}
			r := p.sync()
			if r.Fetched+r.Put+len(r.Conflicts)+len(r.Left) > 0 {
				t.Fatalf("a second Sync did something: %+v", r)
			}
		}
	})
}

// restart restarts some of the parts.
func (p *pair) restart(t *rapid.T, agreed *map[string]string) {
	if rapid.Bool().Draw(t, "reconnect") {
		p.disconnect()
		if rapid.Bool().Draw(t, "new server") {
			p.newServer()
		}
		p.connect()
	}
	if rapid.Bool().Draw(t, "reopen") {
		must(t, p.tree.Close())
		if rapid.Bool().Draw(t, "lose note") {
			must(t, os.Remove(p.options.Note))
			*agreed = map[string]string{}
		}
		p.open()
	}
}

// edit makes a random change below a directory, and ignores errors.
func edit(t *rapid.T, dir string, serial int) {
	path := func() string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "a-b", "c"}), 1, 3).Draw(t, "path")
		return filepath.Join(append([]string{dir}, parts...)...)
	}
	at := path()
	switch rapid.SampledFrom([]string{"write", "write", "write", "mkdir", "remove", "remove all", "link", "mode", "rename", "replace"}).Draw(t, "edit") {
	case "write":
		_ = os.MkdirAll(filepath.Dir(at), 0o755)
		if info, err := os.Lstat(at); err == nil && !info.Mode().IsRegular() {
			return
		}
		_ = os.WriteFile(at, fmt.Appendf(nil, "v%d", serial), 0o644)
	case "mkdir":
		_ = os.MkdirAll(at, 0o755)
	case "remove":
		_ = os.Remove(at)
	case "remove all":
		_ = os.RemoveAll(at)
	case "link":
		_ = os.Symlink(rapid.SampledFrom([]string{"a", "../c", "/etc/passwd", "nowhere"}).Draw(t, "target"), at)
	case "mode":
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink == 0 {
			_ = os.Chmod(at, os.FileMode(rapid.SampledFrom([]int{0o755, 0o644, 0o600, 0o711}).Draw(t, "mode"))|info.Mode().Perm()&0o100)
		}
	case "rename":
		_ = os.Rename(at, path())
	case "replace":
		_ = os.RemoveAll(at)
		if rapid.Bool().Draw(t, "by a directory") {
			_ = os.MkdirAll(filepath.Join(at, "a"), 0o755)
		}
		_ = os.WriteFile(at, fmt.Appendf(nil, "v%d", serial), 0o644)
	}
}

// An agent and a tool that write during Syncs lose nothing: once they stop, both sides are equal
// and have what each wrote last to its own files.
func TestBusyAgent(t *testing.T) {
	p := start(t)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	last := make([]map[string]string, 2)
	for i, dir := range []string{p.host, p.container} {
		last[i] = map[string]string{}
		writers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				name := fmt.Sprintf("d%d/f%d", n%3, n%7)
				if n%2 == 0 { // a name of its own: it is never in conflict
					name = fmt.Sprintf("d%d/own%d-%d", n%3, i, n%5)
				}
				content := fmt.Sprintf("v%d-%d", i, n)
				// As editors and tools write: never half a file.
				temp := filepath.Join(dir, fmt.Sprintf("new%d", i))
				err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755),
					os.WriteFile(temp, []byte(content), 0o644), os.Rename(temp, filepath.Join(dir, name)))
				if err == nil {
					last[i][name] = content
				}
			}
		})
	}
	for range 30 {
		p.sync()
	}
	stop()
	writers.Wait()
	for range 3 { // one Sync may leave files to the next
		p.sync()
	}
	p.equal()
	contents := map[string]bool{}
	for _, is := range listing(t, p.host) {
		contents[is[strings.LastIndexByte(is, ' ')+1:]] = true
	}
	for i := range last {
		for name, content := range last[i] {
			if strings.Contains(name, "own") && !contents[content] {
				t.Errorf("%s of %d is lost: %s", name, i, content)
			}
		}
	}
}

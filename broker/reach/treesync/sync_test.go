package treesync

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// files is what a directory has, "path": "content".
type files = map[string]string

// What both sides have after each has changed something since they agreed.
func TestThreeWay(t *testing.T) {
	for name, c := range map[string]struct {
		before, host, container, after files // host and container: what is written; "" removes
		conflicts                      []Conflict
	}{
		"only there": {
			before: files{"a": "1", "b": "2"}, container: files{"a": "3", "b": "", "c": "4"},
			after: files{"a": "3", "c": "4"},
		},
		"only here": {
			before: files{"a": "1", "b": "2"}, host: files{"a": "3", "b": "", "c": "4"},
			after: files{"a": "3", "c": "4"},
		},
		"the same on both": {
			before: files{"a": "1", "b": "2"}, host: files{"a": "3", "b": ""}, container: files{"a": "3", "b": ""},
			after: files{"a": "3"},
		},
		"both": {
			before: files{"d/a.go": "1"}, host: files{"d/a.go": "2"}, container: files{"d/a.go": "3"},
			after:     files{"d/a.go": "3", "d/a.go.from-tool": "2"},
			conflicts: []Conflict{{"d/a.go", "d/a.go.from-tool"}},
		},
		"both, and the name is taken on either side": {
			before: files{"a": "1", "a.from-tool": "0"}, host: files{"a": "2"}, container: files{"a": "3", "a.from-tool-2": "4"},
			after:     files{"a": "3", "a.from-tool": "0", "a.from-tool-2": "4", "a.from-tool-3": "2"},
			conflicts: []Conflict{{"a", "a.from-tool-3"}},
		},
		"deleted here, changed there": {
			before: files{"a": "1"}, host: files{"a": ""}, container: files{"a": "2"}, after: files{"a": "2"},
		},
		"changed here, deleted there": {
			before: files{"a": "1"}, host: files{"a": "2"}, container: files{"a": ""}, after: files{"a": "2"},
		},
		"directory deleted here, one file of it changed there": {
			before: files{"d/a": "1", "d/b": "1"}, host: files{"d": ""}, container: files{"d/a": "2"}, after: files{"d/a": "2"},
		},
		"directory deleted there, one file of it changed here": {
			before: files{"d/a": "1", "d/b": "1", "x": "1"}, host: files{"d/a": "2"}, container: files{"d": ""}, after: files{"d/a": "2", "x": "1"},
		},
		"directory becomes a file there": {
			before: files{"d/e/a": "1"}, container: files{"d": "2"}, after: files{"d": "2"},
		},
		"directory becomes a file there, and has something new here": {
			before: files{"d/e/a": "1", "d/b": "1"}, container: files{"d": "2"}, host: files{"d/e/c": "3"},
			after:     files{"d": "2", "d.from-tool/e/c": "3"},
			conflicts: []Conflict{{"d", "d.from-tool"}},
		},
		"directory becomes a file here, and has something new there": {
			before: files{"d/e/a": "1", "d/b": "1"}, host: files{"d": "2"}, container: files{"d/e/c": "3"},
			after:     files{"d/e/c": "3", "d.from-tool": "2"},
			conflicts: []Conflict{{"d", "d.from-tool"}},
		},
		"kinds change there": {
			before: files{"d/a": "1", "f": "2", "l": "@f"}, container: files{"d/a": "", "f": "@d", "l": "3"},
			after: files{"f": "@d", "l": "3"},
		},
		"file here, directory there": {
			before: files{"x": "1"}, host: files{"a": "2"}, container: files{"a/b": "3"},
			after:     files{"x": "1", "a/b": "3", "a.from-tool": "2"},
			conflicts: []Conflict{{"a", "a.from-tool"}},
		},
		"directory here, file there": {
			before: files{"x": "1"}, host: files{"a/b": "2"}, container: files{"a": "3"},
			after:     files{"x": "1", "a": "3", "a.from-tool/b": "2"},
			conflicts: []Conflict{{"a", "a.from-tool"}},
		},
		"links": {
			before: files{"a": "@x", "b": "@x"}, host: files{"a": "@y"}, container: files{"b": "@z"},
			after: files{"a": "@y", "b": "@z"},
		},
		"all deleted there": {
			before: files{"d/a": "1"}, container: files{"d": ""}, after: files{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			write(t, p.container, c.before)
			p.sync()
			write(t, p.host, c.host)
			write(t, p.container, c.container)
			r := p.sync()
			p.equal()
			wantFiles(t, p.host, c.after)
			if len(r.Conflicts) != len(c.conflicts) || len(r.Conflicts) > 0 && r.Conflicts[0] != c.conflicts[0] {
				t.Errorf("conflicts: %v", r.Conflicts)
			}
		})
	}
}

// A tree that is empty at the first Sync is taken for a new volume and filled. When an agent deletes
// everything later, the host deletes it, too.
func TestAllDeletedThere(t *testing.T) {
	p := start(t, func(o *Options) { o.Note = filepath.Join(t.TempDir(), "note") })
	write(t, p.container, files{"d/a": "1"})
	p.sync()
	must(t, p.tree.Close())
	write(t, p.container, files{"d": ""})
	p.open()
	p.sync()
	wantFiles(t, p.container, files{"d/a": "1"})
	write(t, p.container, files{"d": ""})
	p.sync()
	wantFiles(t, p.host, files{})
}

// The report counts files that were fetched and put, and a change of mode without bytes.
func TestReportCounts(t *testing.T) {
	p := start(t)
	write(t, p.container, files{"d/a": "12345"})
	write(t, p.host, files{"b": "123"})
	if r := p.sync(); r.Fetched != 2 || r.Put != 1 || r.Bytes != 8 {
		t.Errorf("%+v", r)
	}
	must(t, os.Chmod(filepath.Join(p.container, "d/a"), 0o755))
	if r := p.sync(); r.Fetched != 1 || r.Put != 0 || r.Bytes != 0 {
		t.Errorf("a mode: %+v", r)
	}
	p.equal()
}

// A file that is rewritten with the same size and times is noticed.
func TestRewrittenAtOnce(t *testing.T) {
	p := start(t)
	at := filepath.Join(p.container, "a")
	write(t, p.container, files{"a": "1"})
	p.sync()
	info, err := os.Stat(at)
	must(t, err)
	for _, content := range []string{"2", "3", "4"} {
		must(t, os.WriteFile(at, []byte(content), 0o644))
		must(t, os.Chtimes(at, info.ModTime(), info.ModTime()))
		p.sync()
		wantFiles(t, p.host, files{"a": content})
	}
}

// What the container does to fixed paths is undone in it.
func TestFixed(t *testing.T) {
	for name, container := range map[string]files{
		"changed":               {".git/hooks/a": "evil"},
		"more":                  {".git/hooks/b": "evil", ".git/hooks/c/d": "evil"},
		"deleted":               {".git/hooks": ""},
		"a link":                {".git/hooks": "@/tmp"},
		"a directory":           {".git/config": "", ".git/config/x": "evil"},
		"all deleted":           {".git": "", "x": "1"},
		"another on the way":    {".git": "@elsewhere", "elsewhere/hooks/a": "evil"},
		"a file on the way":     {".git": "evil"},
		"nothing to do with it": {".git/hooks2": "1"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, func(o *Options) { o.Fixed = []string{".git/hooks", ".git/config"} })
			ours := files{".git/hooks/a": "good", ".git/config": "good", ".git/x": "1"}
			write(t, p.host, ours)
			p.sync()
			write(t, p.container, container)
			if r := p.sync(); len(r.Conflicts) > 0 {
				t.Errorf("conflicts: %v", r.Conflicts)
			}
			p.equal()
			for _, path := range []string{".git/hooks/a", ".git/config"} {
				if got, err := os.ReadFile(filepath.Join(p.host, path)); err != nil || string(got) != "good" {
					t.Errorf("%s is %q, %v", path, got, err)
				}
			}
			if _, err := os.Lstat(filepath.Join(p.host, ".git/hooks/b")); err == nil {
				t.Error("more came")
			}
		})
	}
}

// For a path of Ours, the host's version wins when both sides changed it, and the agent's when only
// the agent did.
func TestOurs(t *testing.T) {
	p := start(t, func(o *Options) { o.Ours = func(path string) bool { return path == "key" } })
	write(t, p.host, files{"key": "1", "other": "1"})
	p.sync()
	write(t, p.container, files{"key": "agent's"})
	p.sync()
	wantFiles(t, p.host, files{"key": "agent's", "other": "1"})
	write(t, p.container, files{"key": "agent's again", "other": "agent's"})
	write(t, p.host, files{"key": "ours", "other": "ours"})
	if r := p.sync(); len(r.Conflicts) != 1 || r.Conflicts[0].Path != "other" {
		t.Errorf("conflicts: %v", r.Conflicts)
	}
	p.equal()
	wantFiles(t, p.host, files{"key": "ours", "other": "agent's", "other.from-tool": "ours"})
}

// With OneWay the host's files are put, again if the container changed them; others stay there.
func TestOneWay(t *testing.T) {
	p := start(t, func(o *Options) { o.OneWay = true })
	write(t, p.host, files{"a": "1", "b": "2", "d/c": "3"})
	write(t, p.container, files{"x": "agent's"})
	p.sync()
	write(t, p.container, files{"a": "changed", "d": ""})
	write(t, p.host, files{"b": ""})
	p.sync()
	wantFiles(t, p.host, files{"a": "1", "d/c": "3"})
	wantFiles(t, p.container, files{"a": "1", "d/c": "3", "x": "agent's"})
}

// What Wanted refuses stays in the container only.
func TestWanted(t *testing.T) {
	p := start(t, func(o *Options) {
		o.Wanted = func(path string, size int64) bool { return strings.HasSuffix(path, ".log") && size < 10 }
	})
	write(t, p.host, files{"settings": "ours", "d/more": "ours"})
	write(t, p.container, files{"a/b/c.log": "1", "a/x": "cache", "big.log": "0123456789", "only/x": "cache"})
	p.sync()
	wantFiles(t, p.host, files{"settings": "ours", "d/more": "ours", "a/b/c.log": "1"})
	wantFiles(t, p.container, files{"settings": "ours", "d/more": "ours", "a/b/c.log": "1", "a/x": "cache", "big.log": "0123456789", "only/x": "cache"})
	if _, err := os.Lstat(filepath.Join(p.host, "only")); err == nil {
		t.Error("a directory came with nothing in it")
	}
	write(t, p.host, files{"a": "", "d": "", "settings": "again"})
	p.sync()
	wantFiles(t, p.host, files{"settings": "again"})
	wantFiles(t, p.container, files{"settings": "again", "d/more": "ours", "a/x": "cache", "big.log": "0123456789", "only/x": "cache"})
	if r := p.sync(); r.Fetched+r.Put > 0 {
		t.Errorf("it does not come to rest: %+v", r)
	}
}

// On the host, new files get their names when they are complete.
func TestNamedWhenWhole(t *testing.T) {
	seen := map[string]bool{}
	p := start(t)
	p.tree.written = func(root *os.Root, path string) error {
		info, err := root.Lstat(path)
		must(t, err)
		seen[info.Mode().Type().String()] = true
		if !info.IsDir() && !temporary(path) {
			t.Errorf("%s has its name already", path)
		}
		return nil
	}
	write(t, p.container, files{"d/a": "1", "l": "@d"})
	p.sync()
	if len(seen) != 3 {
		t.Errorf("%v", seen)
	}
}

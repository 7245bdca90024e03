package gitx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// nestedWorld is a repository with two commits of other repositories in its
// index: one at the root and one deeper, and a file between them.
func nestedWorld(t *testing.T) (home, dir string) {
	t.Helper()
	home = tempDir(t)
	dir = filepath.Join(home, "outer")
	for _, place := range []string{"", "a-lib", "deep/er/lib"} {
		sub := filepath.Join(dir, place)
		write(t, filepath.Join(sub, "file"), "x")
		mustGit(t, home, sub, "init", "-q")
		mustGit(t, home, sub, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "m")
	}
	mustGit(t, home, dir, "-c", "advice.addEmbeddedRepo=false", "add", ".")
	return home, dir
}

// TestGitlinks reads the index in every form that git writes it in.
func TestGitlinks(t *testing.T) {
	want := []string{"a-lib", "deep/er/lib"}
	for form, args := range map[string][][]string{
		"as it is":  nil,
		"version 2": {{"update-index", "--index-version", "2"}},
		"version 3": {{"update-index", "--index-version", "3"}, {"add", "-N", "later"}},
		"version 4": {{"update-index", "--index-version", "4"}},
		"split":     {{"update-index", "--split-index"}, {"add", "later"}},
		"split, 4":  {{"update-index", "--index-version", "4"}, {"update-index", "--split-index"}, {"add", "later"}},
		"extended":  {{"update-index", "--untracked-cache"}},
	} {
		t.Run(form, func(t *testing.T) {
			home, dir := nestedWorld(t)
			write(t, filepath.Join(dir, "later"), "x")
			for _, a := range args {
				mustGit(t, home, dir, a...)
			}
			r, err := Open(dir, Home{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.gitlinks()
			slices.Sort(got)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %q %v, want %q", form, got, err, want)
			}
		})
	}
}

// TestGitlinksOfBrokenIndex cuts an index at every length.
func TestGitlinksOfBrokenIndex(t *testing.T) {
	home, dir := nestedWorld(t)
	mustGit(t, home, dir, "update-index", "--index-version", "4")
	name := filepath.Join(dir, ".git/index")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir, Home{})
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) {
		write(t, name, string(whole[:cut]))
		var refused *Error
		if got, err := r.gitlinks(); err != nil && !errors.As(err, &refused) || err == nil && len(got) != 2 {
			t.Fatalf("cut at %d: %q %v", cut, got, err)
		}
	}
	write(t, name, "DIRC\x00\x00\x00\x09"+string(whole[8:]))
	if _, err := r.gitlinks(); err == nil {
		t.Error("an unknown version is read")
	}
}

// TestIndexOfManyNames has an index of 3 MB whose names, decoded, have many gigabytes.
func TestIndexOfManyNames(t *testing.T) {
	const entries = 50_000
	data := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x04"), entries)
	for range entries {
		data = append(data, make([]byte, 24)...)
		data = binary.BigEndian.AppendUint32(data, gitlinkMode)
		data = append(data, make([]byte, 12+20+2)...)
		data = append(data, 0, 'a', 0) // the whole name before, and one more letter
	}
	x := index{view: newView(Home{}), hash: 20}
	if err := x.walk(bytes.NewReader(data), int64(len(data)+20)); err == nil || len(x.links) > maxGitlinks {
		t.Errorf("%d places, %v", len(x.links), err)
	}
}

// One view keeps a bounded number of bytes of a repository, not only of names.
func TestLongNamesOfLinksAreBounded(t *testing.T) {
	_, dir := nestedWorld(t)
	deep := filepath.Join(dir, ".git/refs", strings.Repeat(strings.Repeat("x", 200)+"/", 17))
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range maxKept/len(deep) + 100 {
		if err := os.Symlink("nothing", filepath.Join(deep, strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(dir, Home{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Dirs(); err == nil {
		t.Errorf("%d directories", len(got))
	}
}

// Every rewriting rule is tried on each address, so the number of rules is bounded.
func TestManyRulesForAddresses(t *testing.T) {
	_, dir := nestedWorld(t)
	name := filepath.Join(dir, ".git/config")
	own, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]bool{
		strings.Repeat("[url \"a\"]\npushInsteadOf=z\n", maxRemotes):   true,
		strings.Repeat("[url \"a\"]\npushInsteadOf=z\n", maxRemotes+1): false,
		strings.Repeat("[branch \"a\"]\nremote=z\n", maxRemotes+1):     true,
	} {
		t.Run(fmt.Sprintf("%.40s", what), func(t *testing.T) {
			write(t, name, string(own)+what)
			if _, err := Open(dir, Home{}); (err == nil) != want {
				t.Errorf("%.30q: %v", what, err)
			}
		})
	}
	var remotes strings.Builder
	for i := range maxRemotes + 1 {
		remotes.WriteString("[remote \"r" + strconv.Itoa(i) + "\"]\nurl=https://example.com/\n")
	}
	write(t, name, remotes.String())
	if _, err := Open(dir, Home{}); err == nil {
		t.Error("too many remotes are taken")
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00link\x00\x00\x00\x1401234567890123456789"+"01234567890123456789"), false)
	f.Fuzz(func(t *testing.T, data []byte, wide bool) {
		x := index{view: newView(Home{}), hash: 20}
		if wide {
			x.hash = 32
		}
		if err := x.walk(bytes.NewReader(data), int64(len(data))); err == nil && slices.Contains(x.links, "") {
			t.Errorf("%q: a repository without a place", data)
		}
	})
}

func TestNested(t *testing.T) {
	home, dir := nestedWorld(t)
	write(t, filepath.Join(dir, ".git/modules/kept/by name/HEAD"), "ref: refs/heads/main\n")
	for _, part := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, ".git/modules/kept/by name", part), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	mustGit(t, home, filepath.Join(dir, "deep/er/lib"), "config", "filter.x.clean", "evil")
	write(t, filepath.Join(dir, "deep/er/lib/inner/file"), "x")
	inner := filepath.Join(dir, "deep/er/lib/inner")
	mustGit(t, home, inner, "init", "-q")
	mustGit(t, home, inner, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "m")
	mustGit(t, home, filepath.Join(dir, "deep/er/lib"), "-c", "advice.addEmbeddedRepo=false", "add", "inner")
	r, err := Open(dir, Home{})
	if err != nil {
		t.Fatal(err)
	}
	nested, err := r.Nested()
	if err != nil {
		t.Fatal(err)
	}
	var dirs, programs []string
	for _, n := range nested {
		rel, err := filepath.Rel(dir, n.GitDir)
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, rel)
		programs = append(programs, n.Programs(false, nil)...)
	}
	slices.Sort(dirs)
	if want := []string{".git/modules/kept/by name", "a-lib/.git", "deep/er/lib/.git", "deep/er/lib/inner/.git"}; !slices.Equal(dirs, want) {
		t.Errorf("nested in %q, want %q", dirs, want)
	}
	if want := []string{"filter.*.clean"}; !slices.Equal(programs, want) {
		t.Errorf("programs %q, want %q", programs, want)
	}
}

// TestSubmodulesHaveRemotesOfTheirOwn shows with git itself that a fetch also contacts the
// remotes of nested repositories: git runs a program that a nested repository configures.
func TestSubmodulesHaveRemotesOfTheirOwn(t *testing.T) {
	home, dir := nestedWorld(t)
	mustGit(t, home, dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "m")
	mustGit(t, home, home, "clone", "-q", "--bare", "outer", "elsewhere.git")
	lib := filepath.Join(dir, "deep/er/lib")
	ran := filepath.Join(home, "ran")
	mustGit(t, home, lib, "remote", "add", "origin", home+"/elsewhere.git")
	mustGit(t, home, lib, "config", "remote.origin.uploadpack", "touch "+ran+"; git-upload-pack")
	mustGit(t, home, dir, "-c", "fetch.recurseSubmodules=true", "fetch", "-q", home+"/elsewhere.git")
	if !exists(ran) {
		t.Fatal("git does not fetch from there")
	}
	submodules := func() ([]Address, error) {
		r, err := Open(dir, Home{})
		if err != nil {
			t.Fatal(err)
		}
		nested, err := r.Nested()
		if err != nil {
			t.Fatal(err)
		}
		return r.Submodules(nested, Fetch)
	}
	if got, err := submodules(); err == nil {
		t.Errorf("a program and a local path: %v", got)
	}
	mustGit(t, home, lib, "config", "--unset", "remote.origin.uploadpack")
	mustGit(t, home, lib, "config", "remote.origin.url", "short:x")
	mustGit(t, home, lib, "config", "url.https://example.org/.insteadOf", "short:")
	mustGit(t, home, lib, "config", "extensions.worktreeConfig", "true")
	write(t, filepath.Join(lib, ".git/config.worktree"), "[remote \"more\"]\n\turl = https://example.net/y\n")
	got, err := submodules()
	if err != nil || len(got) != 2 || got[0].String() != "https://example.org/x" || got[1].String() != "https://example.net/y" {
		t.Errorf("%v %v", got, err)
	}
}

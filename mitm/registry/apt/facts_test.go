package apt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// plainForge is a repository with one package whose contents do not matter.
func plainForge(t testing.TB) *forge {
	t.Helper()
	f := newForge(t)
	f.Put("pool/main/h/hello/hello_1.0_amd64.deb", []byte("hello"))
	f.Put("dists/stable/main/binary-amd64/Packages", []byte("Package: hello\nVersion: 1.0\nFilename: pool/main/h/hello/hello_1.0_amd64.deb\nSize: 5\nSHA256: 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\n\n"))
	f.Put("dists/stable/main/i18n/Translation-en", []byte("Package: hello\n"))
	f.Publish(t, "stable")
	return f
}

func reasonOf(t testing.TB, err error) registry.Reason {
	t.Helper()
	return registrytest.Refusal(t, err).Reason
}

func TestAPackageIsWhatItsIndexSays(t *testing.T) {
	f := plainForge(t)
	e := New(&memory{})
	const pkg = "pool/main/h/hello/hello_1.0_amd64.deb"
	if _, _, err := f.ask(t, e, pkg); reasonOf(t, err) != registry.ReasonUnlisted || !strings.Contains(err.Error(), "apt-get update") {
		t.Errorf("before an index was fetched: %v", err)
	}
	if _, _, err := f.ask(t, e, "dists/stable/main/binary-amd64/Packages"); err != nil {
		t.Fatal(err)
	}
	facts, a, err := f.ask(t, e, pkg)
	if err != nil {
		t.Fatal(err)
	}
	v, file := facts.File(a.URL())
	if file == nil || facts.Name != "hello" || v.Version != "1.0" || !v.Published.IsZero() || file.Size != 5 || len(file.Digests) != 1 || file.Digests[0].Algorithm != "sha256" {
		t.Errorf("the facts are %+v", facts)
	}
	if _, _, err := f.ask(t, e, "pool/main/h/hello/hello_1.1_amd64.deb"); reasonOf(t, err) != registry.ReasonUnlisted {
		t.Errorf("a package that no index names: %v", err)
	}
	for _, path := range f.paths() {
		if strings.HasPrefix(path, "pool/") {
			t.Errorf("the repository was asked for %s", path)
		}
	}
}

// What is known is made again when another process goes on.
func TestANewProcessKnowsTheIndexes(t *testing.T) {
	f, seen := plainForge(t), &memory{}
	if _, _, err := f.ask(t, New(seen), "dists/stable/main/binary-amd64/Packages"); err != nil {
		t.Fatal(err)
	}
	facts, a, err := f.ask(t, New(seen), "pool/main/h/hello/hello_1.0_amd64.deb")
	if err != nil {
		t.Fatal(err)
	}
	if _, file := facts.File(a.URL()); file == nil {
		t.Errorf("the facts are %+v", facts)
	}
}

func TestDocumentsAreThoseOfTheRelease(t *testing.T) {
	f := plainForge(t)
	e := New(&memory{})
	for _, path := range f.Paths() {
		if strings.HasPrefix(path, "pool/") {
			continue
		}
		t.Run(path, func(t *testing.T) {
			facts, a, err := f.ask(t, e, path)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := e.Write(&out, facts, a, nil); err != nil || !bytes.Equal(out.Bytes(), f.Get(path)) {
				t.Errorf("the answer is %q, %v", out.String(), err)
			}
		})
	}
	const hash = "main/binary-amd64/by-hash/SHA256/" + someHash
	for path, reason := range map[string]registry.Reason{
		"dists/stable/" + hash:                               registry.ReasonUnlisted,
		"dists/stable/main/binary-amd64/Packages.xz":         registry.ReasonUnlisted,
		"dists/stable/main/other/by-hash/SHA256/" + someHash: registry.ReasonUnlisted,
		"dists/unknown/main/binary-amd64/Packages.xz":        registry.ReasonNotFound,
		"dists/unknown/" + hash:                              registry.ReasonNotFound,
		"dists/unknown/InRelease":                            registry.ReasonNotFound,
	} {
		t.Run(path, func(t *testing.T) {
			if _, _, err := f.ask(t, e, path); reasonOf(t, err) != reason {
				t.Errorf("refused with %s: %v", reasonOf(t, err), err)
			}
		})
	}
}

// A distribution may have a slash in its name.
func TestDistributionsWithASlash(t *testing.T) {
	f := newForge(t)
	f.Put("dists/stable/updates/main/binary-amd64/Packages", []byte("Package: hello\n"))
	f.Put("dists/stable/main/binary-amd64/Packages", []byte("Package: hello\nVersion: 1\n"))
	f.Publish(t, "stable/updates")
	for _, both := range []bool{false, true} {
		t.Run(fmt.Sprint(both), func(t *testing.T) {
			e := New(&memory{})
			if both {
				f.Publish(t, "stable")
				if _, _, err := f.ask(t, e, "dists/stable/main/binary-amd64/Packages"); err != nil {
					t.Fatal(err)
				}
				if _, _, err := f.ask(t, e, "dists/stable/updates/InRelease"); err != nil {
					t.Fatal(err)
				}
			}
			if _, _, err := f.ask(t, e, "dists/stable/updates/main/binary-amd64/Packages"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A Release that is forged, old, expired or of another distribution is refused, and nothing
// that it lists is served.
func TestReleasesThatAreRefused(t *testing.T) {
	now := time.Now().UTC()
	key := forged.NewAptKey(t)
	date := "Date: " + now.Format(time.RFC1123) + "\n"
	const list = "SHA256:\n " + someHash + " 0 main/a\n"
	for name, test := range map[string]struct {
		text   string // of the Release; empty for the right one
		before func(f *forge)
		after  func(f *forge)
		reason registry.Reason
	}{
		"another key": {before: func(f *forge) { f.Key = key }, reason: registry.ReasonDigest},
		"older":       {before: func(f *forge) { f.Date = f.Date.Add(-time.Minute) }, reason: registry.ReasonDocument},
		"the future":  {before: func(f *forge) { f.Date = now.Add(48 * time.Hour) }, reason: registry.ReasonDocument},
		"expired": {before: func(f *forge) {
			f.Fields = "Valid-Until: " + now.Add(-time.Minute).Format(time.RFC1123) + "\n"
		}, reason: registry.ReasonDocument},
		"another distribution": {text: "Suite: old\nCodename: older\n" + date + list, reason: registry.ReasonDocument},
		"no date":              {text: "Suite: stable\n" + list, reason: registry.ReasonDocument},
		"no SHA-256":           {text: "Suite: stable\n" + date + "MD5Sum:\n", reason: registry.ReasonDocument},
		"a broken list":        {text: "Suite: stable\n" + date + "SHA256:\n abc 0 main/a\n", reason: registry.ReasonDocument},
		"a field twice":        {text: "Suite: stable\nSuite: stable\n" + date + list, reason: registry.ReasonDocument},
		"two paragraphs":       {text: "Suite: stable\n" + date + list + "\nSuite: stable\n", reason: registry.ReasonDocument},
		"one file twice":       {text: "Suite: stable\n" + date + list + " " + someHash + " 1 main/a\n", reason: registry.ReasonDocument},
		"no keyring":           {after: func(f *forge) { f.origin.Keys = nil }, reason: registry.ReasonUpstream},
		"no signature": {after: func(f *forge) {
			f.Put("dists/stable/InRelease", f.Get("dists/stable/Release"))
			f.Put("dists/stable/Release.gpg", nil)
		}, reason: registry.ReasonDigest},
	} {
		t.Run(name, func(t *testing.T) {
			f, e := plainForge(t), New(&memory{})
			if _, _, err := f.ask(t, e, "dists/stable/InRelease"); err != nil {
				t.Fatal(err)
			}
			if test.before != nil {
				test.before(f)
			}
			if test.text != "" {
				f.Sign(t, "stable", test.text)
			} else {
				f.Publish(t, "stable")
			}
			if test.after != nil {
				test.after(f)
			}
			for _, path := range []string{"dists/stable/InRelease", "dists/stable/Release", "dists/stable/Release.gpg"} {
				_, _, err := f.ask(t, e, path)
				if reasonOf(t, err) != test.reason {
					t.Errorf("%s is refused with %s: %v", path, reasonOf(t, err), err)
				}
				registrytest.Refusal(t, err)
			}
		})
	}
}

// A Release that was valid is fetched again when it no longer is.
func TestAnExpiredReleaseLeadsNowhere(t *testing.T) {
	f, e := plainForge(t), New(&memory{})
	f.Fields = "Valid-Until: " + time.Now().Add(time.Hour).UTC().Format(time.RFC1123) + "\n"
	f.Publish(t, "stable")
	const index = "dists/stable/main/binary-amd64/Packages"
	if _, _, err := f.ask(t, e, index); err != nil {
		t.Fatal(err)
	}
	e.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	for _, path := range []string{index, "pool/main/h/hello/hello_1.0_amd64.deb"} {
		if _, _, err := f.ask(t, e, path); reasonOf(t, err) != registry.ReasonDocument {
			t.Errorf("%s is refused with %s: %v", path, reasonOf(t, err), err)
		}
	}
}

// Older than the last one holds for the next process, too.
func TestReleasesNeverGoBack(t *testing.T) {
	f, seen := plainForge(t), &memory{}
	if _, _, err := f.ask(t, New(seen), "dists/stable/InRelease"); err != nil {
		t.Fatal(err)
	}
	f.Date = f.Date.Add(-24 * time.Hour)
	f.Publish(t, "stable")
	if _, _, err := f.ask(t, New(seen), "dists/stable/InRelease"); reasonOf(t, err) != registry.ReasonDocument {
		t.Errorf("refused with %s: %v", reasonOf(t, err), err)
	}
}

func TestAnIndexThatIsNotTheListedOneIsRefused(t *testing.T) {
	f, e := plainForge(t), New(&memory{})
	for _, path := range f.Paths() {
		if strings.Contains(path, "binary-amd64") {
			f.Put(path, append(f.Get(path), '\n'))
		}
	}
	if _, _, err := f.ask(t, e, "dists/stable/main/binary-amd64/Packages"); reasonOf(t, err) != registry.ReasonDigest {
		t.Errorf("refused with %s: %v", reasonOf(t, err), err)
	}
}

// Names of distributions are asked for in vain only so often.
func TestNamesOfDistributionsAreCounted(t *testing.T) {
	f, e := plainForge(t), New(&memory{})
	for i := range 2 * maxTried {
		_, _, err := f.ask(t, e, fmt.Sprintf("dists/secret%d/InRelease", i))
		if want := map[bool]registry.Reason{true: registry.ReasonNotFound, false: registry.ReasonLimit}[i < maxTried]; reasonOf(t, err) != want {
			t.Fatalf("name %d: %v", i, err)
		}
	}
	if n := len(f.paths()); n != maxTried {
		t.Errorf("the repository was asked %d times", n)
	}
}

func TestLongNamesOfDistributions(t *testing.T) {
	f, e := plainForge(t), New(&memory{})
	long := strings.Repeat("secret", 20)
	for _, path := range []string{"dists/" + long + "/InRelease", "dists/a/" + long + "/Release", "dists/" + long + "/main/Packages"} {
		if _, _, err := f.ask(t, e, path); reasonOf(t, err) != registry.ReasonPath {
			t.Errorf("%s: %v", path, err)
		}
	}
	if asked := f.paths(); len(asked) > 0 {
		t.Errorf("the repository was asked for %q", asked)
	}
}

// The fetcher's error is not hidden, and one who stops waiting for an index holds up nobody.
func TestAFetchersErrorIsPassedOn(t *testing.T) {
	f, e := plainForge(t), New(&memory{})
	a, err := e.Parse(f.origin, &registry.Request{Method: "GET", Base: f.origin.URL, Path: "dists/stable/InRelease"})
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the network is gone")
	if _, err := e.Facts(t.Context(), failing{err: broken}, f.origin, a); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
}

type failing struct {
	registry.Fetcher
	err error
}

func (f failing) Document(context.Context, *registry.Origin, string, string) (*registry.Document, error) {
	return nil, f.err
}

func (failing) Admit(context.Context, *registry.Origin, registry.Pin, func() (bool, error)) error {
	return nil
}

// Many ask at once, and the index is read once.
func TestManyAskAtOnce(t *testing.T) {
	f, e := plainForge(t), New(&memory{})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, path := range []string{"dists/stable/InRelease", "dists/stable/main/binary-amd64/Packages", "pool/main/h/hello/hello_1.0_amd64.deb"} {
				a, err := e.Parse(f.origin, &registry.Request{Method: "GET", Base: f.origin.URL, Path: path})
				if err == nil {
					_, err = e.Facts(t.Context(), f, f.origin, a)
				}
				if err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
		})
	}
	group.Wait()
	if n := len(e.archive(f.origin).indexes); n != 1 {
		t.Errorf("%d indexes are kept", n)
	}
}

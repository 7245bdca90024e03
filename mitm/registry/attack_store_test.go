package registry_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

const (
	oldTarball   = "/left/-/left-2.0.4.tgz"
	youngTarball = "/left/-/left-2.1.0.tgz"
)

// Bytes that were looked into as one version are not those of another, though the store has
// them: the document now says of an old version that its tarball is the young one.
func TestStoredBytesOfAnotherVersion(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	if a := w.get(youngTarball); a.status != 403 { // nobody approves it, but it is in the store now
		t.Fatalf("%d", a.status)
	}
	w.npm.Change(func(path string, body []byte) []byte {
		if path != "left" {
			return body
		}
		var doc map[string]any
		if err := json.Unmarshal(body, &doc); err != nil {
			t.Error(err)
		}
		versions, _ := doc["versions"].(map[string]any)
		before, _ := versions["2.0.4"].(map[string]any)
		after, _ := versions["2.1.0"].(map[string]any)
		before["dist"] = after["dist"]
		delete(versions, "2.1.0")
		body, err := json.Marshal(doc)
		if err != nil {
			t.Error(err)
		}
		return body
	})
	if a := w.get(youngTarball); a.status != 403 || !strings.Contains(a.phrase, "another package or version") {
		t.Errorf("%d %s", a.status, a.phrase)
	}
}

// A tarball that the registry has taken back is not served because it was listed yesterday, as
// soon as this machine has seen the document without it.
func TestTarballThatWasTakenBack(t *testing.T) {
	for name, change := range map[string]func(body []byte) []byte{
		"the version": func(body []byte) []byte {
			return bytes.Replace(body, []byte(`"versions":{"2.0.4"`), []byte(`"versions":{"9.9.9"`), 1)
		},
		"the package": func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(c *registry.Config) { c.Limits.Believed = 0 }) // the default
			w.addLeft()
			if a := w.get(oldTarball); a.status != 200 {
				t.Fatalf("%d %s", a.status, a.phrase)
			}
			w.npm.Change(func(path string, body []byte) []byte {
				if path == "left" {
					return change(body)
				}
				return body
			})
			if a := w.get(oldTarball); a.status != 200 {
				t.Errorf("before it is known: %d %s", a.status, a.phrase)
			}
			w.get("/left")
			if a := w.get(oldTarball); a.status < 400 {
				t.Errorf("afterwards: %d", a.status)
			}
		})
	}
}

// Whatever has become of the store's files, nothing but the listed bytes is served.
func TestDamagedStore(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, file string) error{
		"other bytes": func(_ *testing.T, file string) error { return os.WriteFile(file, []byte("evil"), 0o600) },
		"no bytes":    func(_ *testing.T, file string) error { return os.WriteFile(file, nil, 0o600) },
		"a directory": func(_ *testing.T, file string) error {
			if err := os.Remove(file); err != nil {
				return err
			}
			return os.Mkdir(file, 0o700)
		},
		"a link": func(t *testing.T, file string) error {
			t.Helper()
			other := filepath.Join(t.TempDir(), "other")
			if err := os.WriteFile(other, []byte("evil"), 0o600); err != nil {
				return err
			}
			if err := os.Remove(file); err != nil {
				return err
			}
			return os.Symlink(other, file)
		},
		"gone": func(_ *testing.T, file string) error { return os.Remove(file) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.addLeft()
			first := w.get(oldTarball)
			files, err := filepath.Glob(filepath.Join(w.dir, "blobs", "*", "*"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%v %v", files, err)
			}
			for _, file := range files {
				if err := damage(t, file); err != nil {
					t.Fatal(err)
				}
			}
			switch a := w.get(oldTarball); {
			case a.status == 200 && a.body.String() != first.body.String():
				t.Errorf("other bytes were served: %q", a.body.String())
			case a.status != 200 && strings.Contains(a.phrase, w.dir):
				t.Errorf("the agent is told of a directory of the host: %s", a.phrase)
			}
		})
	}
}

// A store that cannot be written to, as on a full disk, is not the registry's failure, and the
// agent learns nothing of the host's files.
func TestStoreCannotBeWritten(t *testing.T) {
	for _, part := range []string{"incoming", "blobs", "notes"} {
		t.Run(part, func(t *testing.T) {
			w := newWorld(t, nil)
			w.addLeft()
			dir := filepath.Join(w.dir, part)
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"/left", oldTarball} {
				if a := w.get(path); a.status != 502 || strings.Contains(a.phrase+a.body.String(), w.dir) {
					t.Errorf("%s: %d %s", path, a.status, a.phrase)
				}
			}
			if err := os.Remove(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if a := w.get(oldTarball); a.status != 200 {
				t.Errorf("afterwards: %d %s", a.status, a.phrase)
			}
		})
	}
}

// A process that was killed while it wrote leaves what nobody takes for a package.
func TestLeftovers(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	if err := os.WriteFile(filepath.Join(w.dir, "incoming", "123"), []byte("half of a tarball"), 0o600); err != nil {
		t.Fatal(err)
	}
	if a := w.get(oldTarball); a.status != 200 {
		t.Errorf("%d %s", a.status, a.phrase)
	}
	left, err := os.ReadDir(filepath.Join(w.dir, "incoming"))
	if err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

// Two sessions with other rules share the store and the documents, but not what they see.
func TestTwoSessions(t *testing.T) {
	w := newWorld(t, nil)
	w.addLeft()
	mine := w.get("/left")
	trusting := w.plane.NewSession(registry.SessionConfig{
		Judge:  func(registry.Package) registry.Verdict { return registry.Verdict{Then: registry.Allow} },
		Record: w.record, Note: func(registry.Record) {},
	})
	defer trusting.Close()
	ask := func(s *registry.Session, path, tag string) *answer {
		a := &answer{}
		if err := s.Serve(t.Context(), &registry.HTTPRequest{Method: "GET", Authority: "https://npm.example:443", Path: path, IfNoneMatch: tag}, a); err != nil {
			t.Error(err)
		}
		return a
	}
	theirs := ask(trusting, "/left", mine.fields["ETag"])
	if theirs.status != 200 || !strings.Contains(theirs.body.String(), "2.1.0") {
		t.Errorf("the other session: %d %s", theirs.status, &theirs.body)
	}
	if a := ask(w.session, "/left", theirs.fields["ETag"]); a.status != 200 || strings.Contains(a.body.String(), "2.1.0") {
		t.Errorf("a tag of the other session: %d %s", a.status, &a.body)
	}
	if a := ask(trusting, youngTarball, ""); a.status != 200 {
		t.Errorf("%d", a.status)
	}
	if a := ask(w.session, youngTarball, ""); a.status != 403 {
		t.Errorf("what the other session got: %d", a.status)
	}
	for _, tag := range []string{"*", `W/` + mine.fields["ETag"], `"x", ` + mine.fields["ETag"], `""`} {
		if a := ask(w.session, "/left", tag); a.status != 200 && a.status != 304 || strings.Contains(a.body.String(), "2.1.0") {
			t.Errorf("%s: %d", tag, a.status)
		}
	}
	w.npm.Add("left", forged.NPMVersion{Version: "2.0.5", Published: old()})
	if a := ask(w.session, "/left", mine.fields["ETag"]); a.status != 200 || !strings.Contains(a.body.String(), "2.0.5") {
		t.Errorf("a stale tag: %d", a.status)
	}
}

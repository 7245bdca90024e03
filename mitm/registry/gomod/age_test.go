package gomod

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

// noon is when tests of ages take place.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func at(heads Heads) *Ecosystem {
	e := New(heads)
	e.now = func() time.Time { return noon }
	return e
}

// The age is that of the record, whatever the author says; a younger date counts.
func TestAgeRestsOnTheRecord(t *testing.T) {
	f, heads := newForge(t), &Memory{}
	monthAgo, yesterday := noon.AddDate(0, -1, 0), noon.AddDate(0, 0, -1)
	f.put(t, "a.example/b", "v1.0.0", released)
	f.put(t, "a.example/b", "v1.1.0", noon.Add(-time.Hour))
	f.record(t, "a.example/b@v1.0.0", "a.example/b@v1.1.0")
	f.hold(t, heads, monthAgo)
	f.put(t, "a.example/b", "v1.2.0", released)
	f.record(t, "a.example/b@v1.2.0")
	f.hold(t, heads, yesterday)
	f.put(t, "a.example/b", "v1.3.0", released) // gets its record when it is looked up
	e := at(heads)
	for _, test := range []struct {
		version string
		since   time.Time
		proof   string
	}{
		{"v1.0.0", monthAgo, "record 0 of the checksum database"},
		{"v1.1.0", noon.Add(-time.Hour), "the time of its commit"},
		{"v1.2.0", yesterday, "record 2 of the checksum database"},
		{"v1.3.0", noon, "record 3 of the checksum database"},
	} {
		t.Run(test.version, func(t *testing.T) {
			facts, a, err := f.facts(t, e, "a.example/b/@v/"+test.version+".zip")
			if err != nil {
				t.Fatal(err)
			}
			v, file := facts.File(a.URL())
			if file == nil || len(v.Files) != 3 || len(file.Digests) != 1 {
				t.Fatalf("the facts are %+v", facts)
			}
			if !v.Published.Equal(test.since) || v.Proof != test.proof {
				t.Errorf("published %v by %s", v.Published, v.Proof)
			}
		})
	}
}

// Of a long list only the newest versions are looked up, and a module that brings out many
// still has one that is old enough.
func TestListLooksUpTheNewestOnly(t *testing.T) {
	for _, test := range []struct {
		young, old int
		first      string // the newest one that can be seen
	}{
		{0, 30, "v1.29.0"},
		{2, 30, "v1.29.0"},
		{40, 60, ""},
	} {
		t.Run(fmt.Sprint(test.young), func(t *testing.T) {
			f, heads := newForge(t), &Memory{}
			for i := range test.old + test.young {
				version := fmt.Sprintf("v1.%d.0", i)
				f.put(t, "a.example/b", version, released)
				f.record(t, "a.example/b@"+version)
				if i == test.old-1 {
					f.hold(t, heads, noon.AddDate(-1, 0, 0))
				}
			}
			f.hold(t, heads, noon.Add(-time.Hour))
			e := at(heads)
			facts, a, err := f.facts(t, e, "a.example/b/@v/list")
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := e.Write(&out, facts, a, func(v string) bool {
				return noon.Sub(facts.Version(v).Published) < 72*time.Hour || facts.Version(v).Published.IsZero()
			}); err != nil {
				t.Fatal(err)
			}
			lines := strings.Fields(out.String())
			if test.first != "" && lines[len(lines)-1] != test.first {
				t.Errorf("the newest that can be seen is %s", lines[len(lines)-1])
			}
			if len(lines) > test.old || len(lines) < test.old/2 {
				t.Errorf("%d of %d old versions can be seen", len(lines), test.old)
			}
			lookups := 0
			for _, path := range f.paths() {
				if strings.Contains(path, "/lookup/") {
					lookups++
				}
			}
			if lookups > maxLookups || lookups > test.young+1 {
				t.Errorf("%d look-ups", lookups)
			}
		})
	}
}

func TestListLeavesOutWhatCannotBeHad(t *testing.T) {
	f, heads := newForge(t), &Memory{}
	f.put(t, "a.example/b", "v1.0.0", released)
	f.put(t, "a.example/b", "v1.1.0-rc.1", released)
	f.record(t, "a.example/b@v1.0.0", "a.example/b@v1.1.0-rc.1")
	f.hold(t, heads, noon.AddDate(0, -1, 0))
	f.mu.Lock()
	f.files["/a.example/b/@v/list"] = []byte("v1.0.0\nv9.9.9\nv1.0.0\nmain\nv1.0\n v1.0.0\nv1.1.0-rc.1\nv2.0.0\nv1.2.0\r\n")
	f.mu.Unlock()
	e := at(heads)
	facts, a, err := f.facts(t, e, "a.example/b/@v/list")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := e.Write(&out, facts, a, func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if out.String() != "v1.0.0\nv1.1.0-rc.1\n" {
		t.Errorf("the list is %q", out.String())
	}
	err = e.Write(&out, facts, a, func(string) bool { return true })
	registrytest.Refusal(t, err)
}

// The newest version is another one when the proxy's is hidden.
func TestLatestIsOneThatIsNotHidden(t *testing.T) {
	f, heads := newForge(t), &Memory{}
	for _, version := range []string{"v1.0.0", "v1.1.0", "v1.2.0-rc.1", "v1.2.0"} {
		f.put(t, "a.example/b", version, released)
		f.record(t, "a.example/b@"+version)
	}
	f.hold(t, heads, noon.Add(-time.Hour))
	f.mu.Lock()
	f.files["/a.example/b/@latest"] = []byte(`{"Version":"v1.2.0","Time":"2020-01-02T03:04:05Z"}`)
	f.mu.Unlock()
	e := at(heads)
	facts, a, err := f.facts(t, e, "a.example/b/@latest")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		hidden []string
		want   string
	}{
		{nil, "v1.2.0"},
		{[]string{"v1.2.0"}, "v1.1.0"},
		{[]string{"v1.2.0", "v1.1.0", "v1.0.0"}, "v1.2.0-rc.1"},
		{[]string{"v1.2.0", "v1.1.0", "v1.0.0", "v1.2.0-rc.1"}, ""},
	} {
		t.Run(fmt.Sprint(test.hidden), func(t *testing.T) {
			var out bytes.Buffer
			err := e.Write(&out, facts, a, func(v string) bool { return slices.Contains(test.hidden, v) })
			if test.want == "" {
				registrytest.Refusal(t, err)
				return
			}
			if err != nil || !strings.Contains(out.String(), `"`+test.want+`"`) {
				t.Errorf("the newest is %s, %v", out.String(), err)
			}
		})
	}
}

// A hidden version takes others back all the same: the go command would not see that it does.
func TestAHiddenVersionRetracts(t *testing.T) {
	f, heads := newForge(t), &Memory{}
	for _, version := range []string{"v1.0.0", "v1.1.0", "v1.2.0"} {
		f.put(t, "a.example/b", version, released)
	}
	f.record(t, "a.example/b@v1.0.0", "a.example/b@v1.1.0", "a.example/b@v1.2.0")
	f.hold(t, heads, noon.AddDate(0, 0, -10))
	f.put(t, "a.example/b", "v1.3.0", released)
	mod := []byte("module a.example/b\n\nretract [v1.1.0, v1.2.0] // stolen key\n")
	f.set(t, "a.example/b", "v1.3.0", "mod", mod)
	f.record(t, "a.example/b@v1.3.0")
	f.hold(t, heads, noon.Add(-time.Hour))
	f.mu.Lock()
	f.files["/a.example/b/@latest"] = []byte(`{"Version":"v1.3.0","Time":"2020-01-02T03:04:05Z"}`)
	f.mu.Unlock()
	for path, want := range map[string][2]string{
		"list":   {"v1.0.0\n", "v1.0.0\nv1.1.0\nv1.2.0\nv1.3.0\n"},
		"latest": {`"v1.0.0"`, `"v1.3.0"`},
	} {
		facts, a, err := f.facts(t, at(heads), strings.Replace("a.example/b/@v/"+path, "@v/latest", "@latest", 1))
		if err != nil {
			t.Fatal(err)
		}
		for i, hidden := range []string{"v1.3.0", ""} {
			var out bytes.Buffer
			err := (&Ecosystem{}).Write(&out, facts, a, func(v string) bool { return v == hidden })
			if err != nil || !strings.Contains(out.String(), want[i]) || path == "list" && out.String() != want[i] {
				t.Errorf("%s without %q: %q, %v", path, hidden, out.String(), err)
			}
		}
	}
	f.set(t, "a.example/b", "v1.3.0", "mod", []byte("module a.example/b\n"))
	if _, _, err := f.facts(t, at(heads), "a.example/b/@v/list"); registrytest.Refusal(t, err).Reason != registry.ReasonDigest {
		t.Errorf("another go.mod: %v", err)
	}
}

// A private module proxy tells neither ages nor hashes.
func TestPrivateModulesHaveNoProof(t *testing.T) {
	f := newForge(t)
	f.put(t, "a.example/b", "v1.0.0", released)
	f.origin.Keys, f.origin.Private = nil, true
	e := at(&Memory{})
	facts, a, err := f.facts(t, e, "a.example/b/@v/v1.0.0.zip")
	if err != nil {
		t.Fatal(err)
	}
	v, file := facts.File(a.URL())
	if !v.Published.IsZero() || v.Proof != "" || !file.Weak || file.Digests != nil {
		t.Errorf("the facts are %+v", facts)
	}
	f.origin.Keys, f.origin.Scopes = []string{f.key}, []string{"a.example/*"}
	if facts, _, err := f.facts(t, e, "a.example/b/@v/v1.0.0.zip"); err != nil || !facts.Versions[0].Published.IsZero() {
		t.Errorf("a module that belongs to the origin only: %+v, %v", facts, err)
	}
	for _, path := range f.paths() {
		if strings.HasPrefix(path, "/sumdb/") {
			t.Errorf("%s was asked for", path)
		}
	}
	f.origin.Scopes = nil
	if facts, _, err := f.facts(t, e, "a.example/b/@v/v1.0.0.zip"); err != nil || facts.Versions[0].Proof == "" {
		t.Errorf("another module of a private origin: %+v, %v", facts, err)
	}
	f.origin.Keys, f.origin.Private = nil, false
	if _, _, err := f.facts(t, e, "a.example/b/@v/v1.0.0.zip"); err == nil {
		t.Error("a public module is accepted without a checksum database")
	}
}

// A head that was got gives later versions their age.
func TestHeadIsHeld(t *testing.T) {
	f, heads := newForge(t), &Memory{}
	f.put(t, "a.example/b", "v1.0.0", released)
	f.record(t, "a.example/b@v1.0.0")
	e := at(heads)
	if _, _, err := f.facts(t, e, "sumdb/sums.example/latest"); err != nil {
		t.Fatal(err)
	}
	if since, ok := heads.Since("sums.example", 0); !ok || !since.Equal(noon) {
		t.Errorf("record 0 is known since %v, %v", since, ok)
	}
	if _, ok := heads.Since("sums.example", 1); ok {
		t.Error("record 1, which does not exist, has an age")
	}
	// Another database with the same key's name shows another past.
	other := newForge(t)
	other.put(t, "a.example/c", "v1.0.0", released)
	other.put(t, "a.example/c", "v1.1.0", released)
	other.record(t, "a.example/c@v1.0.0", "a.example/c@v1.1.0")
	other.origin = f.origin
	var refusal *registry.Refusal
	if _, _, err := other.facts(t, e, "sumdb/sums.example/latest"); !errors.As(err, &refusal) {
		t.Errorf("a head that another key has signed: %v", err)
	}
}

// Go's own module cache holds signed heads, and its files' times say since when.
func TestHistoryReadsTheModuleCache(t *testing.T) {
	f := newForge(t)
	f.put(t, "a.example/b", "v1.0.0", released)
	data, err := f.get(t.Context(), "sumdb/sums.example/lookup/a.example/b@v1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	lookups := filepath.Join(dir, "cache", "download", "sumdb", "sums.example", "lookup", "a.example")
	if err := os.MkdirAll(lookups, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"b@v1.0.0": data, "c@v1.0.0": bytes.Replace(data, []byte("tree\n1\n"), []byte("tree\n9\n"), 1), "d@v1.0.0": []byte("nonsense")} {
		path := filepath.Join(lookups, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, noon, noon.AddDate(0, -1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	lost := filepath.Join(lookups, "e@v1.0.0")
	if err := os.WriteFile(lost, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(lost, noon, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	heads, err := History(dir, f.key)
	if err != nil {
		t.Fatal(err)
	}
	if len(heads) != 1 || heads[0].Size != 1 || !heads[0].Time.Equal(noon.AddDate(0, -1, 0)) {
		t.Errorf("the heads are %v", heads)
	}
	if heads, err := History(t.TempDir(), f.key); err != nil || heads != nil {
		t.Errorf("an empty cache has %v, %v", heads, err)
	}
}

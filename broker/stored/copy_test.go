package stored

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/copies"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// copied makes a stored session that works in a copy of a directory.
func copied(t *testing.T, home string, ago time.Duration) (l Layout, origin string) {
	t.Helper()
	l, origin = storeSession(t, home, "shell", ago), filepath.Join(RealPath(shortTemp(t)), "project")
	if err := os.Mkdir(origin, 0o700); err != nil {
		t.Fatal(err)
	}
	shell(t, origin, "echo a > a")
	if _, err := copies.Make(t.Context(), origin, l.Copy(), l.CopyNote()); err != nil {
		t.Fatal(err)
	}
	rec, err := ReadRecord(l)
	if err != nil {
		t.Fatal(err)
	}
	at := rec.CreatedAt.Add(time.Hour)
	rec.Origin, rec.Workspace = origin, l.Copy()
	data, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.Record(), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(l.Record(), at, at); err != nil {
		t.Fatal(err)
	}
	return l, origin
}

func TestACopyWithWorkStays(t *testing.T) {
	for name, c := range map[string]struct{ agent, person, want string }{
		"nothing done":             {"true", "echo mine > a", ""},
		"the same done":            {"echo b > a", "echo b > a", ""},
		"the directory is gone":    {"true", "rm -r ../project", ""},
		"a change":                 {"echo b > a", "true", "has 1 changed file"},
		"a conflict":               {"echo b > a", "echo c > a", "has 1 changed file"},
		"a change, and it is gone": {"echo b > a", "rm -r ../project", "no such file"},
		"a copy that is gone":      {"rm -r ../copy", "true", ""},
		"work in the volumes":      {"touch ../away", "true", "in volumes"},
		"a copy that was not made": {"echo b > a; rm ../copy.note", "true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			home := shortTemp(t)
			l, origin := copied(t, home, 72*time.Hour)
			shell(t, l.Copy(), c.agent)
			shell(t, origin, c.person)
			id := ID(filepath.Base(l.Dir))
			removed, err := Retire(t.Context(), home, 48*time.Hour)
			if c.want == "" {
				if err != nil || len(removed) != 1 {
					t.Errorf("removed %v, %v", removed, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(fault.Hint(err), "--force") || !there(l.Copy()) {
				t.Errorf("%v (%s)", err, fault.Hint(err))
			}
			if err := Remove(t.Context(), home, id, true, noEngine); err != nil || there(l.Dir) {
				t.Errorf("insisted: %v", err)
			}
		})
	}
}

func TestWhatIsUnlandedIsListed(t *testing.T) {
	home := shortTemp(t)
	l, origin := copied(t, home, time.Hour)
	shell(t, l.Copy(), "echo b > a; echo x > .envrc")
	rec, err := ReadRecord(l)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Difference(t.Context(), l, rec.Session, home)
	if err != nil {
		t.Fatal(err)
	}
	if err := NoteUnlanded(l, d.Left()); err != nil {
		t.Fatal(err)
	}
	all, err := List(home, agent.Builtin())
	if err != nil || len(all) != 1 || all[0].Unlanded != "2 changed files" || all[0].Place() != origin || all[0].Private() {
		t.Fatalf("%+v, %v", all, err)
	}
	landed, err := Land(t.Context(), l, rec.Session, d, copies.Which{})
	if err != nil || len(landed.Landed) != 2 {
		t.Fatalf("landed %v, %v", landed, err)
	}
	if all, _ = List(home, nil); all[0].Unlanded != "" {
		t.Errorf("still said: %q", all[0].Unlanded)
	}
}

func TestOnlyCopiesAreLanded(t *testing.T) {
	l := storeSession(t, shortTemp(t), "shell", time.Hour)
	rec, err := ReadRecord(l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Difference(context.Background(), l, rec.Session, ""); err == nil || !strings.Contains(err.Error(), "not in a copy") {
		t.Errorf("%v", err)
	}
}

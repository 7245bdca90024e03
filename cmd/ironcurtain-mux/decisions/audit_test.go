package decisions

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
)

// Of a log with three lines, "tail" prints as many as it is told to; --follow goes on
// behind the last one, however many were printed.
func TestAuditTailPrintsSoManyLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	if err := os.WriteFile(path, []byte("{\"seq\":1}\n{\"seq\":2}\n{\"seq\":3}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for lines, want := range map[int]int{0: 0, 1: 1, 2: 2, 10: 3} {
		for _, follow := range []bool{false, true} {
			var got []uint64
			err := runAuditTail(ended, path, lines, follow, func(l audit.Line) error { got = append(got, l.Seq); return nil })
			if err != nil || len(got) != want || want > 0 && got[want-1] != 3 {
				t.Errorf("-n %d, follow %v: lines %v, %v", lines, follow, got, err)
			}
		}
	}
}

// A log is found by the beginning of its session's id, as sessions are everywhere.
func TestAuditIsFoundByTheBeginningOfAnId(t *testing.T) {
	home := t.TempDir()
	for _, id := range []string{"6f1c0000-0000-4000-8000-000000000001", "6f2c0000-0000-4000-8000-000000000002"} {
		dir := filepath.Join(home, "sessions", id)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"session.json": `{"id":"` + id + `","agent":"shell"}`, "audit.jsonl": ""} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Setenv("IRONCURTAIN_HOME", home)
	t.Chdir(t.TempDir())
	want := filepath.Join(home, "sessions", "6f2c0000-0000-4000-8000-000000000002", "audit.jsonl")
	if got, err := auditFile(t.Context(), []string{"6f2c"}); err != nil || got != want {
		t.Errorf("found %s, %v", got, err)
	}
	for _, name := range []string{"6f", "absent"} {
		if got, err := auditFile(t.Context(), []string{name}); err == nil {
			t.Errorf("%q named %s", name, got)
		}
	}
	if err := os.WriteFile("6f2c", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := auditFile(t.Context(), []string{"6f2c"}); err != nil || got != "6f2c" {
		t.Errorf("beside a file of that name: %s, %v", got, err)
	}
}

// A call is found by the beginning of its id; one with which several begin is an error that names
// them.
func TestACallOfTheAuditIsFoundByTheBeginningOfItsId(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	lines := `{"seq":1,"call":"6f1c000000000000"}
{"seq":2,"call":"6f2c000000000000"}
{"seq":3,"call":"6f1c000000000000"}
`
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{"": "", "6f1": "6f1c000000000000", "6f2c000000000000": "6f2c000000000000", "absent": "absent"} {
		if got, err := callIn(path, word); err != nil || got != want {
			t.Errorf("%q: %q, %v", word, got, err)
		}
	}
	if got, err := callIn(path, "6f"); err == nil || !strings.Contains(err.Error(), "6f1c00000000") || !strings.Contains(err.Error(), "6f2c00000000") {
		t.Errorf("%q, %v", got, err)
	}
}

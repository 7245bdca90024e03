package broker

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The person is told when config.json changes so that the next start would refuse it.
func TestABrokenConfigIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	checked := 0
	w := configWatch{path: path, check: func() error {
		checked++
		if data, err := os.ReadFile(path); err == nil && string(data) == "garbled" {
			return errors.New("it is garbled")
		}
		return nil
	}}
	w.seen = stateOf(w.path)
	for _, step := range []struct {
		text   string // of the file; - is none
		told   string
		checks int
	}{
		{"-", "", 0}, {"{}", "", 1}, {"{}", "", 1}, {"garbled", "garbled", 2}, {"garbled", "", 2}, {"{ }", "valid again", 3}, {"-", "", 4},
	} {
		if before, err := os.ReadFile(path); err != nil || string(before) != step.text {
			err := os.Remove(path)
			if step.text != "-" {
				err = os.WriteFile(path, []byte(step.text), 0o600)
			}
			if err != nil && step.checks > 0 {
				t.Fatal(err)
			}
		}
		got := w.look()
		if (got == "") != (step.told == "") || !strings.Contains(got, step.told) || checked != step.checks {
			t.Errorf("%q: told %q after %d checks", step.text, got, checked)
		}
	}
}

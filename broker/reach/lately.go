package reach

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Lately is what the last container of an engine was seen to be from inside, in words.
type Lately struct {
	User      string    `json:"user"`      // its numbers inside and outside
	Isolation string    `json:"isolation"` // with the limits that differ
	Differs   bool      `json:"differs"`   // a limit does
	At        time.Time `json:"at"`
	Rate      int64     `json:"rate,omitempty"` // of the files that were copied there last, in bytes a second; 0: not known
}

// lateEnough is for how long an equal report is not written down again.
const lateEnough = 24 * time.Hour

// NoteSeen notes what a container of an engine was seen to be, for Seen. It is for people: nothing is
// decided by it.
func (w *Ways) NoteSeen(address, version string, l Lately) error {
	return w.note("note what was seen in the container", address, version, func(was Lately) Lately {
		l.Rate = was.Rate
		same := l
		same.At = was.At
		if age := l.At.Sub(was.At); same == was && age >= 0 && age < lateEnough {
			return was
		}
		return l
	})
}

// NoteRate notes how fast files were copied to a container of an engine, in bytes a second.
func (w *Ways) NoteRate(address, version string, rate int64) error {
	return w.note("note how fast files are copied", address, version, func(was Lately) Lately {
		was.Rate = rate
		return was
	})
}

// note changes what is noted of an engine.
func (w *Ways) note(op, address, version string, change func(was Lately) Lately) error {
	if w == nil || w.Path == "" {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	all, err := w.readSeen()
	if err != nil {
		all = map[string]Lately{} // a broken file is made anew
	}
	key := engineKey(address, version)
	was := all[key]
	if all[key] = change(was); all[key] == was {
		return nil
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = renameio.WriteFile(w.reports(), append(text, '\n'), 0o600)
	}
	return fault.Wrap(op, err, "")
}

// Seen returns what was noted last of an engine of that version; ok is false where nothing was.
func (w *Ways) Seen(address, version string) (l Lately, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, err := w.readSeen()
	if err != nil {
		return Lately{}, false
	}
	l, ok = all[engineKey(address, version)]
	return l, ok
}

// reports is the file with what was seen.
func (w *Ways) reports() string { return filepath.Join(filepath.Dir(w.Path), "reports.json") }

func (w *Ways) readSeen() (map[string]Lately, error) {
	all := map[string]Lately{}
	text, err := os.ReadFile(w.reports())
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	return all, err
}

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

// LastSeen describes, for people, what the last container of an engine reported.
type LastSeen struct {
	User      string    `json:"user"`      // its numbers inside and outside
	Isolation string    `json:"isolation"` // with the limits that differ
	Differs   bool      `json:"differs"`   // whether a limit differs
	At        time.Time `json:"at"`
	Rate      int64     `json:"rate,omitempty"` // at which files were last copied to it, in bytes a second; 0: not known
}

// noteEvery is for how long an equal report is not stored again.
const noteEvery = 24 * time.Hour

// NoteSeen stores what a container of an engine reported, for Seen. Nothing is decided by it.
func (w *Ways) NoteSeen(address, version string, l LastSeen) error {
	return w.note("note what was seen in the container", address, version, func(was LastSeen) LastSeen {
		l.Rate = was.Rate
		same := l
		same.At = was.At
		if age := l.At.Sub(was.At); same == was && age >= 0 && age < noteEvery {
			return was
		}
		return l
	})
}

// NoteRate stores how fast files were copied to a container of an engine, in bytes a second.
func (w *Ways) NoteRate(address, version string, rate int64) error {
	return w.note("note how fast files are copied", address, version, func(was LastSeen) LastSeen {
		was.Rate = rate
		return was
	})
}

// note changes what is stored of an engine.
func (w *Ways) note(op, address, version string, change func(was LastSeen) LastSeen) error {
	if w == nil || w.Path == "" {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	all, err := w.readSeen()
	if err != nil {
		all = map[string]LastSeen{} // replaces a broken file
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

// Seen returns what was stored last of an engine of that version; ok is false if there is nothing.
func (w *Ways) Seen(address, version string) (l LastSeen, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, err := w.readSeen()
	if err != nil {
		return LastSeen{}, false
	}
	l, ok = all[engineKey(address, version)]
	return l, ok
}

// reports is the path of the file with what containers reported.
func (w *Ways) reports() string { return filepath.Join(filepath.Dir(w.Path), "reports.json") }

func (w *Ways) readSeen() (map[string]LastSeen, error) {
	all := map[string]LastSeen{}
	text, err := os.ReadFile(w.reports())
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	return all, err
}

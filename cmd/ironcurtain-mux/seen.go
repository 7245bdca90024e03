package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/tour"
)

// seenFile keeps what the person was told and asked on the first start, for all views.
type seenFile struct {
	path string

	mu   sync.Mutex
	seen tour.Seen
}

// openSeen reads the file. A file that cannot be read counts as empty.
func openSeen(path string, log *slog.Logger) *seenFile {
	f := &seenFile{path: path}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &f.seen)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("the record of the first start cannot be read", "error", err)
	}
	return f
}

// now returns what was told and asked in any view.
func (f *seenFile) now() tour.Seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen
}

// keep adds what was told and asked in a view, and writes the file.
func (f *seenFile) keep(s tour.Seen) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = f.seen.With(s)
	data, err := json.Marshal(f.seen)
	if err != nil {
		return err
	}
	return wholefile.Write(f.path, data, 0o600)
}

package packages

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Ledger remembers facts about packages that no registry knows: when this machine first saw a
// version, and which bytes it got for a file. It is a file to which lines are appended. Each line
// has the digest of all earlier ones, so that a change of an older line is noticed.
//
// One process writes it; others may read it. It is safe for concurrent use.
type Ledger struct {
	mu    sync.Mutex
	file  *os.File
	whole int64 // bytes of complete lines
	chain [sha256.Size]byte
	seen  map[string]time.Time // when versions were first seen
	times map[string]time.Time // the latest publication times that registries gave for new versions
	files map[string]bool      // files that versions had when they were seen
	sums  map[string][]pinned  // by package
	names map[string]bool      // packages with a line
}

// pinned is a file whose bytes are known: their SHA-256, and where it was.
type pinned struct{ version, file, sum string }

// entry is one line: a version that was seen, or a file whose bytes are known.
type entry struct {
	Chain   string    `json:"chain"` // of all lines before, in hex
	Origin  string    `json:"origin"`
	Name    string    `json:"name"`
	Version string    `json:"version,omitempty"`
	Seen    time.Time `json:"seen"`
	Told    time.Time `json:"published,omitzero"`
	Files   []string  `json:"files,omitempty"` // of a version that can have several
	File    string    `json:"file,omitempty"`
	Sum     string    `json:"sha256,omitempty"`
}

// OpenLedger opens the ledger in a file, which it creates if necessary. It removes an incomplete
// last line. With reading, the file is not changed, and additions stay in memory.
func OpenLedger(path string, reading bool) (*Ledger, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open the ledger of packages: %w", err)
	}
	l := &Ledger{seen: make(map[string]time.Time), times: make(map[string]time.Time), files: make(map[string]bool), sums: make(map[string][]pinned), names: make(map[string]bool)}
	whole, err := l.read(path)
	if err != nil || reading {
		return l, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		err = f.Truncate(whole)
	}
	if err != nil {
		return nil, fmt.Errorf("open the ledger of packages: %w", err)
	}
	l.file, l.whole = f, whole
	return l, nil
}

// read reads all lines, and returns where the last complete one ends.
func (l *Ledger) read(path string) (whole int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("open the ledger of packages: %w", err)
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for n := 1; ; n++ {
		text, err := r.ReadString('\n')
		if err != nil { // the end, or an incomplete line
			return whole, nil
		}
		var e entry
		if json.Unmarshal([]byte(text), &e) != nil || e.Chain != hex.EncodeToString(l.chain[:]) {
			return 0, fault.New("move the file away if you accept that this machine forgets which packages it has seen",
				"open the ledger of packages: line %d of %s was changed", n, path)
		}
		l.note(e, text)
		whole += int64(len(text))
	}
}

// note adds a line to the maps.
func (l *Ledger) note(e entry, text string) {
	l.chain = sha256.Sum256(append(l.chain[:], text...))
	l.names[key(e.Origin, e.Name)] = true
	if e.Version != "" {
		if k := key(e.Origin, e.Name, e.Version); l.seen[k].IsZero() || len(e.Files) > 0 {
			l.seen[k] = e.Seen
		}
	}
	if k := key(e.Origin, e.Name, e.Version); e.Told.After(l.times[k]) {
		l.times[k] = e.Told
	}
	for _, file := range e.Files {
		l.files[key(e.Origin, e.Name, file)] = true
	}
	if e.File != "" {
		k := key(e.Origin, e.Name)
		l.sums[k] = append(l.sums[k], pinned{e.Version, e.File, e.Sum})
	}
}

func key(parts ...string) string { return strings.Join(parts, "\n") }

// add writes a line, over an incomplete one if there is one. The caller holds the lock.
func (l *Ledger) add(e entry) error {
	e.Chain, e.Seen = hex.EncodeToString(l.chain[:]), time.Now().UTC()
	text, err := json.Marshal(e)
	if err == nil && l.file != nil {
		text = append(text, '\n')
		_, err = l.file.WriteAt(text, l.whole)
	}
	if err != nil {
		return fmt.Errorf("write the ledger of packages: %w", err)
	}
	l.whole += int64(len(text))
	l.note(e, string(text))
	return nil
}

// FirstSeen returns when this machine first saw a version: now, if it is new. With files, a version
// becomes new again when it gets another file, because files can be added to old versions.
func (l *Ledger) FirstSeen(origin, name, version string, files ...string) (time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := key(origin, name, version)
	added := slices.DeleteFunc(files, func(file string) bool { return l.files[key(origin, name, file)] })
	if l.seen[k].IsZero() || len(added) > 0 {
		if err := l.add(entry{Origin: origin, Name: name, Version: version, Files: added}); err != nil {
			return time.Time{}, err
		}
	}
	return l.seen[k], nil
}

// Published returns the latest publication time that a registry gives now or has given for a
// version. Times are kept while a version is new, so that a registry cannot make it older later.
func (l *Ledger) Published(origin, name, version string, told time.Time) (time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := key(origin, name, version)
	if told.After(l.times[k]) && time.Since(told) < newPackage {
		if err := l.add(entry{Origin: origin, Name: name, Version: version, Told: told}); err != nil {
			return time.Time{}, err
		}
	}
	if latest := l.times[k]; latest.After(told) {
		return latest, nil
	}
	return told, nil
}

// Pin remembers the bytes of a file. It returns false if the file had other bytes before. same
// reports whether a known file of the package is this one, even if its address has changed.
func (l *Ledger) Pin(origin, name, version, file, sum string, same func(version, file string) bool) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, before := range l.sums[key(origin, name)] {
		if same(before.version, before.file) {
			return before.sum == sum, nil
		}
	}
	return true, l.add(entry{Origin: origin, Name: name, Version: version, File: file, Sum: sum})
}

// Knows reports whether the ledger has a line about a package.
func (l *Ledger) Knows(origin, name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.names[key(origin, name)]
}

// Installed returns the names of a registry's packages of which this machine has got files, without
// the name except.
func (l *Ledger) Installed(origin, except string) map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make(map[string]bool)
	for k := range l.sums {
		if name, is := strings.CutPrefix(k, origin+"\n"); is && name != except {
			all[name] = true
		}
	}
	return all
}

// size returns the number of packages of which this machine has got files.
func (l *Ledger) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.sums)
}

// KnowsVersion reports whether this machine has seen a version before.
func (l *Ledger) KnowsVersion(origin, name, version string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.seen[key(origin, name, version)].IsZero()
}

// Close closes the file.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

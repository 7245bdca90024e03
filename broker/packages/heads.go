package packages

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/gomod"
)

// heads keeps the heads of checksum databases in a file to which lines are added. They are
// the evidence for the age of Go modules, and gather value with time.
type heads struct {
	gomod.Memory
	mu   sync.Mutex
	file *os.File // nil when it is another process's to write
}

// heldHead is one line.
type heldHead struct {
	Database string     `json:"database"`
	Head     gomod.Head `json:"head"`
}

// openHeads opens the file, which it makes if there is none. While it has no head, it takes over
// those that the go command has in its module cache. A line that cannot be read is no evidence. The
// file is shortened to the heads that still say something. With aside, another process may write
// it, and it stays as it is.
func openHeads(path, moduleCache string, keys []string, aside bool) (*heads, error) {
	h := &heads{}
	lines, err := h.read(path)
	if err == nil && lines == 0 {
		h.learn(moduleCache, keys)
	}
	if aside {
		return h, err
	}
	if all := h.All(); err == nil && (lines > maxHeadLines || lines == 0 && len(all) > 0) {
		err = h.shorten(path, all)
	}
	if err == nil {
		h.file, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("open the heads of checksum databases: %w", err)
	}
	return h, nil
}

// learn holds the heads in the go command's module cache.
func (h *heads) learn(moduleCache string, keys []string) {
	for _, key := range keys {
		if moduleCache == "" {
			return
		}
		all, err := gomod.History(moduleCache, key)
		if err != nil {
			continue // then ages begin with what this machine sees from now on
		}
		for _, head := range all {
			_ = h.Memory.Hold(databaseOf(key), gomod.Head{Size: head.Size, Time: head.Time}, nil) // no signed text, no conflict
		}
	}
}

// maxHeadLines is how many lines the file may have when it is opened. There may be one an hour
// for a year of work.
const maxHeadLines = 3000

// read holds the heads in the file, and returns how many lines it has.
func (h *heads) read(path string) (n int, err error) {
	data, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer data.Close()
	lines := bufio.NewScanner(data)
	lines.Buffer(nil, 1<<20)
	for ; lines.Scan(); n++ {
		var l heldHead
		if json.Unmarshal(lines.Bytes(), &l) == nil {
			_ = h.Memory.Hold(l.Database, l.Head, h.Latest(l.Database)) // it cannot conflict with itself
		}
	}
	return n, nil
}

// shorten writes the file anew.
func (h *heads) shorten(path string, held map[string][]gomod.Head) error {
	var text []byte
	for database, all := range held {
		for _, head := range all {
			line, err := json.Marshal(heldHead{database, head})
			if err != nil {
				return err
			}
			text = append(append(text, line...), '\n')
		}
	}
	return wholefile.Write(path, text, 0o600)
}

// databaseOf is the name in a verifier key.
func databaseOf(key string) string {
	for i, c := range key {
		if c == '+' {
			return key[:i]
		}
	}
	return key
}

// Hold keeps a head in memory and in the file, in which each line ends the one before.
func (h *heads) Hold(database string, head gomod.Head, old []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.Memory.Hold(database, head, old); err != nil {
		return err
	}
	if h.file == nil {
		return nil
	}
	text, err := json.Marshal(heldHead{database, head})
	if err == nil {
		_, err = h.file.Write(append([]byte{'\n'}, text...)) // also one that could be written only in part
	}
	if err != nil {
		return fmt.Errorf("keep the head of a checksum database: %w", err)
	}
	return nil
}

func (h *heads) close() error {
	if h.file == nil {
		return nil
	}
	return h.file.Close()
}

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

// heads keeps the heads of checksum databases in a file to which lines are appended. They prove the
// age of Go modules, and prove more the longer they are kept.
type heads struct {
	gomod.Memory
	mu   sync.Mutex
	file *os.File // nil if another process writes it
}

// heldHead is one line.
type heldHead struct {
	Database string     `json:"database"`
	Head     gomod.Head `json:"head"`
}

// openHeads opens the file, which it creates if necessary. If the file has no lines, it starts with
// the heads in the go command's module cache. Malformed lines are ignored. A file that has grown
// too long is rewritten with only the heads that still prove something. With aside, another process
// may write the file, and openHeads does not change it.
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
			continue // ages then start from now
		}
		for _, head := range all {
			_ = h.Memory.Hold(databaseOf(key), gomod.Head{Size: head.Size, Time: head.Time}, nil) // no signed text, no conflict
		}
	}
}

// maxHeadLines is the number of lines above which openHeads shortens the file: about one for each
// working hour of a year.
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
			_ = h.Memory.Hold(l.Database, l.Head, h.Latest(l.Database)) // the file's own heads cannot conflict
		}
	}
	return n, nil
}

// shorten rewrites the file.
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

// databaseOf returns the name in a verifier key.
func databaseOf(key string) string {
	for i, c := range key {
		if c == '+' {
			return key[:i]
		}
	}
	return key
}

// Hold keeps a head in memory and in the file. Each line begins with a line feed, in case the one
// before is incomplete.
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
		_, err = h.file.Write(append([]byte{'\n'}, text...))
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

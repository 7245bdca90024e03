package obeyed

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// Record is the stored result of a look, and the paths that were made before it.
type Record struct {
	Look
	Made []string // to be removed at the end; below the workspace
}

// kept is a record in its file. The paths are quoted, because a name can have any bytes.
type kept struct {
	Made   []string          `json:"made,omitempty"`
	Missed string            `json:"missed,omitempty"`
	Files  map[string]string `json:"files"`
}

// maxKept is the size of the largest record, in bytes.
const maxKept = 64 << 20

// Keep writes the record to a file.
func (r Record) Keep(file string) error {
	k := kept{Made: r.Made, Missed: r.Missed, Files: map[string]string{}}
	for name, f := range r.Files {
		k.Files[strconv.Quote(name)] = f.Digest
	}
	data, err := json.Marshal(k)
	if err == nil {
		err = wholefile.Write(file, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("store the state of the workspace: %w", err)
	}
	return nil
}

// Kept reads a record. The error is fs.ErrNotExist if there is none.
func Kept(file string) (Record, error) {
	f, err := os.Open(file)
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKept+1))
	if err == nil && len(data) > maxKept {
		err = errors.New("the file is too large")
	}
	var k kept
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	r := Record{Look: Look{Missed: k.Missed, Files: map[string]File{}}, Made: k.Made}
	for quoted, digest := range k.Files {
		name, err := strconv.Unquote(quoted)
		if err != nil {
			return Record{}, fmt.Errorf("read %s: %w", file, err)
		}
		r.Files[name] = File{Digest: digest}
	}
	if err != nil {
		return Record{}, fmt.Errorf("read %s: %w", file, err)
	}
	return r, nil
}

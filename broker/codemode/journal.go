package codemode

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// maxJournal bounds the journal of one program, in bytes.
const maxJournal = 8 << 20

// Journal stores what a program is given: its text, seed, start and state, and the answers to its
// calls in their order. A program that is given the same in the same order does the same, so
// another process can run it again. The journal is on the disk once a call has waited for a person.
// A nil Journal stores nothing.
type Journal struct {
	path   string
	secret func(text string) bool // whether a text must not be written

	mu        sync.Mutex
	lost      error // why the program cannot be run again
	file      *os.File
	begins    *beginning // nil once it is written
	unwritten []kept
	held      int // bytes of those
	size      int // of the file
	past      []kept
}

// beginning is what a program begins with.
type beginning struct {
	Code  string `json:"code"`
	Tools string `json:"tools"` // fingerprint
	State string `json:"state"`
	Seed  int64  `json:"seed"`
	Now   int64  `json:"now"`
}

// kept is an answer to a call or a sleep.
type kept struct {
	ID     int64  `json:"id"`
	Index  int    `json:"index,omitempty"` // of a call
	Asked  string `json:"asked"`           // what for, with a digest of the arguments
	Answer Answer `json:"answer"`
	Now    int64  `json:"now"`
}

// NewJournal makes the journal of a program that begins, for the file at path. secret reports
// whether a text must not be written there.
func NewJournal(path string, secret func(text string) bool) *Journal {
	return &Journal{path: path, secret: secret}
}

// OpenJournal opens the journal of a program whose process was killed. It fails unless the program
// and the tools that it can call are the same.
func OpenJournal(path, code string, tools *Toolset, secret func(text string) bool) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	j := &Journal{path: path, secret: secret, file: file}
	if err := j.read(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if j.begins.Code != code || j.begins.Tools != tools.print {
		return nil, errors.Join(errors.New("the program or its tools have changed"), file.Close())
	}
	return j, nil
}

// read reads the complete lines of the file, and cuts off an incomplete one at its end.
func (j *Journal) read() error {
	data, err := io.ReadAll(io.LimitReader(j.file, maxJournal))
	if err != nil {
		return err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	for line := range bytes.Lines(data) {
		if j.begins == nil {
			j.begins = &beginning{}
			err = json.Unmarshal(line, j.begins)
		} else {
			j.past = append(j.past, kept{})
			err = json.Unmarshal(line, &j.past[len(j.past)-1])
		}
		if err != nil {
			return fmt.Errorf("read what was kept of a program: %w", err)
		}
	}
	if j.begins == nil {
		return errors.New("nothing was kept of the program")
	}
	j.size = len(data)
	return j.file.Truncate(int64(j.size))
}

// Kept returns which calls have stored answers, by their index.
func (j *Journal) Kept() map[int]bool {
	all := map[int]bool{}
	for _, k := range j.past {
		if k.Index > 0 { // it is no sleep
			all[k.Index] = true
		}
	}
	return all
}

// begin returns what the program begins with, and the answers to give it again: from an opened
// journal, else b and none.
func (j *Journal) begin(b beginning) (beginning, []kept) {
	if j == nil {
		return b, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.begins == nil {
		j.begins = &b
		return b, nil
	}
	b, past := *j.begins, j.past
	j.begins, j.past = nil, nil // they are written
	return b, past
}

// keep stores an answer before the program gets it.
func (j *Journal) keep(k kept) {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lost != nil {
		return
	}
	j.unwritten = append(j.unwritten, k)
	if j.held += len(k.Answer.Text); j.held > maxJournal {
		j.lose(errTooMuch)
	} else if j.file != nil {
		j.write()
	}
}

var (
	errTooMuch = errors.New("the journal of the program would be too large")
	errSecret  = errors.New("the program or its input contains a secret")
)

// Wait is called when a call of the program begins to wait for a person. When it returns nil,
// the program can be run again by another process.
func (j *Journal) Wait() error {
	if j == nil {
		return errors.New("nothing is kept of the program")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lost == nil {
		j.write()
	}
	if j.lost == nil {
		if err := j.file.Sync(); err != nil {
			j.lose(err)
		}
	}
	return j.lost
}

// write writes what has not been written yet. The caller holds the lock.
func (j *Journal) write() {
	if j.file == nil {
		err := os.MkdirAll(filepath.Dir(j.path), 0o700)
		if err == nil {
			j.file, err = os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
		}
		if err != nil {
			j.lose(err)
			return
		}
	}
	if b := j.begins; b != nil {
		j.line(b, b.Code, b.State)
		j.begins = nil
	}
	for _, k := range j.unwritten {
		j.line(k, k.Answer.Text)
	}
	j.unwritten, j.held = nil, 0
}

// line writes a line. foreign are the texts in it that the agent or a tool wrote; it writes no
// secret. The caller holds the lock.
func (j *Journal) line(v any, foreign ...string) {
	for _, text := range foreign {
		if j.lost == nil && j.secret(text) {
			j.lose(errSecret)
		}
	}
	if j.lost != nil {
		return
	}
	line, err := json.Marshal(v)
	if j.size += len(line) + 1; err == nil && j.size > maxJournal {
		err = errTooMuch
	}
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err != nil {
		j.lose(err)
	}
}

// lose gives the journal up, and removes its file. If that fails, too, the audit has calls that the
// journal lacks, so the program is not run again. The caller holds the lock.
func (j *Journal) lose(why error) {
	j.lost, j.begins, j.unwritten = why, nil, nil
	if j.file != nil {
		_ = errors.Join(j.file.Close(), os.Remove(j.path))
		j.file = nil
	}
}

// Close ends the journal with its program.
func (j *Journal) Close() {
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lose(errors.New("the program has ended"))
}

// digest identifies a call by its tool and arguments.
func digest(tool int64, arguments string) string {
	return fmt.Sprintf("%d %x", tool, sha256.Sum256([]byte(arguments)))
}

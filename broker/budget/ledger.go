package budget

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// Ledger adds up the use of all sessions of a state directory, including removed ones.
// Several programs may share its file.
type Ledger struct {
	path string
	mu   sync.Mutex
}

// NewLedger returns the ledger in the file at path. The first addition creates the file.
func NewLedger(path string) *Ledger { return &Ledger{path: path} }

// Total returns the use so far.
func (l *Ledger) Total() (Used, error) {
	var u Used
	data, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return u, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &u)
	}
	if err != nil {
		return Used{}, fmt.Errorf("read what all sessions have used: %w", err)
	}
	return u, nil
}

// add adds to the file, under a lock that other programs also take.
func (l *Ledger) add(u Used) error {
	if (u == Used{}) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	lock, err := os.OpenFile(l.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // which unlocks
	if err := flock(lock); err != nil {
		return fmt.Errorf("lock %s: %w", l.path, err)
	}
	total, err := l.Total()
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(total.add(u), "", "  ")
	if err != nil {
		return err
	}
	return wholefile.Write(l.path, append(data, '\n'), 0o600)
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

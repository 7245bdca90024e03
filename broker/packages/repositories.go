package packages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/apt"
)

// repositories remembers in a file what was accepted from Debian repositories, so that a Release
// older than the last one is refused even after a restart.
type repositories struct {
	path  string
	aside bool // another process writes the file

	mu  sync.Mutex
	all map[string][]apt.Distribution // by origin
}

func openRepositories(path string, aside bool) (*repositories, error) {
	r := &repositories{path: path, aside: aside, all: make(map[string][]apt.Distribution)}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r.all)
	}
	if err != nil {
		return nil, fmt.Errorf("read the state of Debian repositories: %w", err)
	}
	return r, nil
}

// Distributions implements apt.Seen.
func (r *repositories) Distributions(origin string) []apt.Distribution {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all[origin])
}

// Remember implements apt.Seen.
func (r *repositories) Remember(origin string, d apt.Distribution) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(r.all[origin]), func(other apt.Distribution) bool { return other.Name == d.Name })
	r.all[origin] = append(list, d)
	if r.aside {
		return nil
	}
	data, err := json.Marshal(r.all)
	if err == nil {
		err = wholefile.Write(r.path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("remember a Debian repository: %w", err)
	}
	return nil
}

package reach

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/google/renameio/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Way is how a container is connected with the host.
type Way string

// The ways.
const (
	Auto     Way = "auto"    // sockets where they work, which is tried; else the stream
	Sockets  Way = "sockets" // the host's sockets, mounted into the container
	ByStream Way = "stream"  // one stream through the engine's exec
)

// Ways knows which way the engines of this person have. It is safe for concurrent use.
type Ways struct {
	Wanted Way    // of the configuration; empty: Auto
	Path   string // of the file in which it remembers what was found

	mu sync.Mutex
}

// First returns the way to try first with an engine at an address, and whether there is another
// one to try when nothing arrives by it. Sockets can lead to a container only if it runs on the
// same kernel, so they are tried where the engine listens on a socket of a Linux machine.
func (w *Ways) First(address, version string) (way Way, other bool) {
	if w.Wanted != "" && w.Wanted != Auto {
		return w.Wanted, false
	}
	if !strings.HasPrefix(address, "unix://") || runtime.GOOS != "linux" {
		return ByStream, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if found, err := w.read(); err == nil && found[engineKey(address, version)] == ByStream {
		return ByStream, false
	}
	return Sockets, true
}

// Describe says in a few words how the containers of an engine are reached, and how that is known.
func (w *Ways) Describe(address, version string) string {
	way, other := w.First(address, version)
	switch {
	case other:
		return "sockets: this machine's are mounted into containers; each start finds out whether they lead there"
	case w.Wanted == way:
		return string(way) + ": config.json wants it"
	case strings.HasPrefix(address, "unix://") && runtime.GOOS == "linux":
		return "stream: this machine's sockets do not lead into its containers"
	}
	return "stream: its containers may run on another kernel, into which no socket leads"
}

// Remember notes the way that an engine has. An engine of another version is tried anew.
func (w *Ways) Remember(address, version string, way Way) error {
	const op = "remember the way to the engine"
	w.mu.Lock()
	defer w.mu.Unlock()
	found, err := w.read()
	if err != nil {
		return fault.Wrap(op, err, "remove "+w.Path)
	}
	found[engineKey(address, version)] = way
	text, err := json.MarshalIndent(found, "", "  ")
	if err == nil {
		err = renameio.WriteFile(w.Path, append(text, '\n'), 0o600)
	}
	return fault.Wrap(op, err, "")
}

func engineKey(address, version string) string { return address + " " + version }

func (w *Ways) read() (map[string]Way, error) {
	found := map[string]Way{}
	text, err := os.ReadFile(w.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	return found, err
}

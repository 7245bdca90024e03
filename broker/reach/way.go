package reach

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/netip"
	"net/url"
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

// Ways knows how the engines of this person are worked with: which way their containers have, and how
// these get files. It is safe for concurrent use.
type Ways struct {
	Wanted      Way    // of the configuration; empty: Auto
	WantedFiles Files  // of the configuration; empty: AutoFiles
	Path        string // of the file in which it remembers what was found

	mu sync.Mutex
}

// Found is what was found out about an engine.
type Found struct {
	Way   Way   `json:"way,omitempty"`   // empty: nothing
	Files Files `json:"files,omitempty"` // likewise
}

// known reports whether it says what this program would.
func (f Found) known() bool {
	return (f.Way == "" || f.Way == Sockets || f.Way == ByStream) && (f.Files == "" || f.Files == Shared || f.Files == Copied)
}

// First returns the way to try first with an engine at an address, and whether there is another
// one to try when nothing arrives by it. Sockets can lead to a container only if it runs on the
// same kernel, so they are tried where the engine listens on a socket of a Linux machine. They are
// files of this machine, so they are not where files are copied.
func (w *Ways) First(address, version string) (way Way, other bool) {
	if w.Wanted != "" && w.Wanted != Auto {
		return w.Wanted, false
	}
	if !here(address) || w.WantedFiles == Copied {
		return ByStream, false
	}
	if found := w.found(address, version); found.Way == ByStream || found.Files == Copied {
		return ByStream, false
	}
	return Sockets, true
}

// here reports whether an engine listens on a socket of a Linux machine, which is this one.
func here(address string) bool {
	return strings.HasPrefix(address, "unix://") && runtime.GOOS == "linux"
}

// elsewhere reports whether an engine is on another machine, as far as its address tells. One that does
// not tell is taken for that.
func elsewhere(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return true
	}
	switch u.Scheme {
	case "unix", "npipe":
		return false
	case "tcp", "http", "https":
		host := u.Hostname()
		ip, err := netip.ParseAddr(host)
		return host != "" && host != "localhost" && (err != nil || !ip.Unmap().IsLoopback())
	}
	return true
}

// Describe says in a few words how the containers of an engine are reached, and how that is known.
func (w *Ways) Describe(address, version string) string {
	way, other := w.First(address, version)
	switch {
	case other:
		return "sockets: this machine's are mounted into containers; each start finds out whether they lead there"
	case w.Wanted == way:
		return string(way) + ": config.json wants it"
	case elsewhere(address):
		return "stream: it is another machine, to which no socket leads"
	case !here(address):
		return "stream: its containers may run on another kernel, into which no socket leads"
	case w.WantedFiles == Copied:
		return "stream: where files are copied no sockets are mounted"
	}
	return "stream: this machine's sockets do not lead into its containers"
}

// Remember adds what was found out about an engine to what is known of it. An engine of another
// version is tried anew.
func (w *Ways) Remember(address, version string, f Found) error {
	const op = "remember how to work with the engine"
	w.mu.Lock()
	defer w.mu.Unlock()
	all, err := w.read()
	if err != nil {
		return fault.Wrap(op, err, "remove "+w.Path)
	}
	known := all[engineKey(address, version)]
	if f.Way != "" {
		known.Way = f.Way
	}
	if f.Files != "" {
		known.Files = f.Files
	}
	all[engineKey(address, version)] = known
	text, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = renameio.WriteFile(w.Path, append(text, '\n'), 0o600)
	}
	return fault.Wrap(op, err, "")
}

func engineKey(address, version string) string { return address + " " + version }

// found returns what is remembered of an engine.
func (w *Ways) found(address, version string) Found {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, err := w.read()
	if err != nil {
		return Found{} // it is found out anew
	}
	return all[engineKey(address, version)]
}

// read returns what is remembered. What an older program wrote, or nobody understands, is found out
// anew and does not stay.
func (w *Ways) read() (map[string]Found, error) {
	all := map[string]Found{}
	text, err := os.ReadFile(w.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	var entries map[string]json.RawMessage
	if json.Unmarshal(text, &entries) != nil {
		return all, nil
	}
	for engine, entry := range entries {
		var f Found
		strict := json.NewDecoder(bytes.NewReader(entry))
		strict.DisallowUnknownFields()
		if strict.Decode(&f) == nil && f.known() {
			all[engine] = f
		}
	}
	return all, nil
}

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
	Auto     Way = "auto"    // try sockets where they may work; else the stream
	Sockets  Way = "sockets" // the host's sockets, mounted into the container
	ByStream Way = "stream"  // one stream through the engine's exec
)

// Ways knows for each engine how containers are connected, and how they get files. It is safe for
// concurrent use.
type Ways struct {
	Wanted      Way    // of the configuration; empty: Auto
	WantedFiles Files  // of the configuration; empty: AutoFiles
	Path        string // of the file that stores what was found out

	mu sync.Mutex
}

// Found is what was found out about an engine.
type Found struct {
	Way   Way   `json:"way,omitempty"`   // empty: not known
	Files Files `json:"files,omitempty"` // empty: not known
}

// known reports whether this program could have written it.
func (f Found) known() bool {
	return (f.Way == "" || f.Way == Sockets || f.Way == ByStream) && (f.Files == "" || f.Files == Shared || f.Files == Copied)
}

// First returns the way to try first with an engine at an address, and whether there is another one
// to try if it fails. Sockets connect only processes of one kernel, so they are tried if the engine
// listens on a Unix socket of this Linux machine. They are files of this machine, so they are not
// tried where files are copied.
func (w *Ways) First(address, version string) (way Way, other bool) {
	if w.Wanted != "" && w.Wanted != Auto {
		return w.Wanted, false
	}
	if !sameKernel(address) || w.WantedFiles == Copied {
		return ByStream, false
	}
	if found := w.found(address, version); found.Way == ByStream || found.Files == Copied {
		return ByStream, false
	}
	return Sockets, true
}

// sameKernel reports whether an engine's containers may run on this machine's kernel.
func sameKernel(address string) bool {
	return strings.HasPrefix(address, "unix://") && runtime.GOOS == "linux"
}

// remote reports whether an engine is on another machine. An address that does not tell counts as
// remote.
func remote(address string) bool {
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

// Describe says briefly how the containers of an engine are reached, and how that is known.
func (w *Ways) Describe(address, version string) string {
	way, other := w.First(address, version)
	switch {
	case other:
		return "sockets: this machine's are mounted into containers; each start finds out whether they work there"
	case w.Wanted == way:
		return string(way) + ": config.json wants it"
	case remote(address):
		return "stream: the engine is on another machine, where sockets do not work"
	case !sameKernel(address):
		return "stream: its containers may run on another kernel, where sockets do not work"
	case w.WantedFiles == Copied:
		return "stream: where files are copied no sockets are mounted"
	}
	return "stream: a session has found out that sockets do not work in its containers"
}

// Remember stores what was found out about an engine, beside what is known of it. Another version of
// an engine is tried again.
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
		return Found{} // it is found out again
	}
	return all[engineKey(address, version)]
}

// read returns what is remembered. It drops entries that this program would not write, such as those
// of another version.
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

package agent

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// HomeDir is an agent's home on the host. The agent can put anything there, so no method
// waits for a pipe, follows a link out of it, or reads without a bound.
type HomeDir struct{ root *os.Root }

// Bounds on what is read of a home.
const (
	tailSize   = 256 << 10 // bytes of a file, from its end
	maxEntries = 1000      // entries of a directory, as the system lists them
)

// file returns the size of a regular file in bytes.
func (h HomeDir) file(name string) (size int64, ok bool) {
	info, err := h.root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Size(), true
}

// entries lists a directory by name; one that cannot be read has none.
func (h HomeDir) entries(dir string) []fs.DirEntry {
	f, err := h.root.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	all, _ := f.ReadDir(maxEntries) // what was read before an error is there as well
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}

// tail reads the end of a regular file, from the beginning of a line.
func (h HomeDir) tail(name string) []byte {
	f, err := h.root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	from := max(0, info.Size()-tailSize)
	data, err := io.ReadAll(io.NewSectionReader(f, from, tailSize))
	if err != nil {
		return nil
	}
	if from > 0 { // the first line is a piece of one
		if _, rest, ok := bytes.Cut(data, []byte("\n")); ok {
			data = rest
		}
	}
	return data
}

// lastOf returns the last text, not empty, that is found in a line of a file's
// end.
func (h HomeDir) lastOf(name string, text func(line []byte) string) string {
	lines := h.tail(name)
	for len(lines) > 0 {
		lines = bytes.TrimRight(lines, "\n")
		i := bytes.LastIndexByte(lines, '\n')
		if found := text(lines[i+1:]); found != "" {
			return found
		}
		lines = lines[:i+1]
	}
	return ""
}

// maxBeside is how many directories beside each other are looked into.
const maxBeside = 10

// keepsFile reports whether a regular file with such a name is so many
// directories below dir, of which the last by name are looked into first.
func (h HomeDir) keepsFile(dir string, below int, prefix, suffix string) bool {
	all := h.entries(dir)
	if below == 0 {
		return slices.ContainsFunc(all, func(e fs.DirEntry) bool {
			return e.Type().IsRegular() && strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), suffix)
		})
	}
	for _, e := range slices.Backward(all[max(0, len(all)-maxBeside):]) {
		if h.keepsFile(dir+"/"+e.Name(), below-1, prefix, suffix) {
			return true
		}
	}
	return false
}

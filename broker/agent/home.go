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
// blocks on a pipe, follows a link out of the home, or reads without a bound.
type HomeDir struct{ root *os.Root }

// How much is read of a home.
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

// entries lists a directory, sorted by name. If the directory cannot be read, the list is empty.
func (h HomeDir) entries(dir string) []fs.DirEntry {
	f, err := h.root.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	all, _ := f.ReadDir(maxEntries) // on an error, the entries so far are returned
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
	if from > 0 { // the first line is incomplete
		if _, rest, ok := bytes.Cut(data, []byte("\n")); ok {
			data = rest
		}
	}
	return data
}

// lastOf returns the last non-empty text that the function text finds in a line of a file's
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

// maxSiblings is how many subdirectories of a directory keepsFile searches: the last by name.
const maxSiblings = 10

// keepsFile reports whether there is a regular file with this prefix and suffix exactly depth
// directories below dir.
func (h HomeDir) keepsFile(dir string, depth int, prefix, suffix string) bool {
	all := h.entries(dir)
	if depth == 0 {
		return slices.ContainsFunc(all, func(e fs.DirEntry) bool {
			return e.Type().IsRegular() && strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), suffix)
		})
	}
	for _, e := range slices.Backward(all[max(0, len(all)-maxSiblings):]) {
		if h.keepsFile(dir+"/"+e.Name(), depth-1, prefix, suffix) {
			return true
		}
	}
	return false
}

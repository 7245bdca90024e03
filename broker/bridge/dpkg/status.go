package dpkg

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Root is the directory to which packages are unpacked.
type Root struct {
	Image string // the status file of the image's dpkg
	Dir   string // everything else is below it
}

// imageStatus is the path of Debian's status file.
const imageStatus = "/var/lib/dpkg/status"

// New returns the root below a directory of a home.
func New(dir string) Root { return Root{Image: imageStatus, Dir: dir} }

func (r Root) files() string  { return filepath.Join(r.Dir, "root") }
func (r Root) status() string { return filepath.Join(r.Dir, "dpkg", "status") }
func (r Root) own() string    { return filepath.Join(r.Dir, "dpkg", "own") }
func (r Root) list(name string) string {
	return filepath.Join(r.Dir, "dpkg", "info", name+".list")
}

// paragraph is the entry of one package in a status file: lines with fields, without the last line
// feed.
type paragraph string

// field returns the first line of a field, or "".
func (p paragraph) field(name string) string {
	for line := range strings.Lines(string(p)) {
		if field, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(field, name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// single reports whether it is one paragraph with one package. Otherwise a package could make apt
// believe that others are installed.
func (p paragraph) single() bool {
	names := 0
	for line := range strings.Lines(string(p)) {
		if strings.TrimSpace(line) == "" {
			return false
		}
		if field, _, _ := strings.Cut(line, ":"); strings.EqualFold(field, "Package") {
			names++
		}
	}
	return names == 1
}

// is reports whether it describes an installed package of that name.
func (p paragraph) is(name string) bool {
	return p.field("Package") == name && strings.HasSuffix(p.field("Status"), " installed")
}

// with returns the paragraph with another Status.
func (p paragraph) with(status string) paragraph {
	var b strings.Builder
	for line := range strings.Lines(string(p)) {
		if field, _, _ := strings.Cut(line, ":"); strings.EqualFold(field, "Status") {
			continue
		}
		b.WriteString(line)
		if b.Len() == len(line) { // the first is Package
			b.WriteString("Status: " + status + "\n")
		}
	}
	return paragraph(strings.TrimSuffix(b.String(), "\n"))
}

func readStatus(path string) ([]paragraph, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	var all []paragraph
	for text := range strings.SplitSeq(string(data), "\n\n") {
		if text = strings.Trim(text, "\n"); text != "" {
			all = append(all, paragraph(text))
		}
	}
	return all, nil
}

// held returns the image's packages, marked so that apt neither replaces nor removes them.
func (r Root) held() ([]paragraph, error) {
	all, err := readStatus(r.Image)
	if err != nil {
		return nil, fmt.Errorf("read which packages the image has: %w", err)
	}
	for i, p := range all {
		if rest, ok := strings.CutPrefix(p.field("Status"), "install "); ok {
			all[i] = p.with("hold " + rest)
		}
	}
	return all, nil
}

// unpacked returns the packages that were unpacked.
func (r Root) unpacked() ([]paragraph, error) {
	all, err := readStatus(r.own())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return all, err
}

// Prepare writes the status file that apt reads.
func (r Root) Prepare() error {
	held, err := r.held()
	if err != nil {
		return err
	}
	own, err := r.unpacked()
	if err == nil {
		own = slices.DeleteFunc(own, func(p paragraph) bool {
			return slices.ContainsFunc(held, func(h paragraph) bool { return h.is(p.field("Package")) })
		})
		err = write(r.status(), append(held, own...))
	}
	if err != nil {
		return fmt.Errorf("tell apt what is installed: %w", err)
	}
	return nil
}

// store replaces the list of unpacked packages.
func (r Root) store(own []paragraph) error {
	if err := write(r.own(), own); err != nil {
		return err
	}
	return r.Prepare()
}

// readFile is os.ReadFile for a path at which the agent may have put something else than a file, in
// an earlier life of the session: a pipe would block the start for ever.
func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", path)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// write replaces a status file atomically.
func write(path string, all []paragraph) error {
	var b strings.Builder
	for _, p := range all {
		b.WriteString(string(p) + "\n\n")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as dpkg makes it
		return err
	}
	fresh := path + ".new"
	if err := os.RemoveAll(fresh); err != nil { // the agent may have put anything there
		return err
	}
	if err := os.WriteFile(fresh, []byte(b.String()), 0o644); err != nil { //nolint:gosec // as dpkg writes it
		return err
	}
	return os.Rename(fresh, path)
}

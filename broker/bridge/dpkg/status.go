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

// Root is where packages go and what is known of them.
type Root struct {
	Image string // the status file of the image's dpkg
	Dir   string // everything else is below it
}

// imageStatus is where Debian keeps it.
const imageStatus = "/var/lib/dpkg/status"

// New returns the root below a directory of a home.
func New(dir string) Root { return Root{Image: imageStatus, Dir: dir} }

func (r Root) files() string  { return filepath.Join(r.Dir, "root") }
func (r Root) status() string { return filepath.Join(r.Dir, "dpkg", "status") }
func (r Root) own() string    { return filepath.Join(r.Dir, "dpkg", "own") }
func (r Root) list(name string) string {
	return filepath.Join(r.Dir, "dpkg", "info", name+".list")
}

// paragraph is what a status file says of one package: lines with fields, the last of which has
// no newline.
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

// single reports whether it is one paragraph of one package: otherwise apt would read of packages
// that nobody has unpacked.
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

// is reports whether it is about a package of that name, which is installed.
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

// held are the image's packages, which apt must neither replace nor remove.
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

// unpacked are the packages that are not the image's.
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

// store replaces what is known of the packages that are not the image's.
func (r Root) store(own []paragraph) error {
	if err := write(r.own(), own); err != nil {
		return err
	}
	return r.Prepare()
}

// readFile is os.ReadFile for a place where the agent may have put something else than a file in
// an earlier life: a pipe would hold up its start for ever.
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

// write replaces a status file whole.
func write(path string, all []paragraph) error {
	var b strings.Builder
	for _, p := range all {
		b.WriteString(string(p) + "\n\n")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as dpkg makes it
		return err
	}
	fresh := path + ".new"
	if err := os.RemoveAll(fresh); err != nil { // it may be anything, see readFile
		return err
	}
	if err := os.WriteFile(fresh, []byte(b.String()), 0o644); err != nil { //nolint:gosec // as dpkg writes it
		return err
	}
	return os.Rename(fresh, path)
}

// Package transfer copies files at a person's command: into a Box, which an agent can read, and with
// Save from where an agent can write.
//
// An agent can put links into its workspace, and the person may type paths that lead through it. So
// a path to read must not contain a link, and a path to write is resolved before it is judged.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Limits in bytes.
const (
	maxFile = 64 << 20  // of one file in a Box
	maxBox  = 256 << 20 // of all files in a Box
	maxSave = 1 << 30
)

// Box is a directory of copies, which a container sees read-only.
type Box struct {
	Dir string
	// Temporary is a directory of the same file system that no container sees.
	Temporary string
	mu        sync.Mutex
}

// Add copies files into the box and returns the names of the copies. Each path must be absolute and
// must not contain a link. judge returns an error for a file that may not be copied. If one file
// cannot be copied, none is.
func (b *Box) Add(ctx context.Context, paths []string, judge func(path string) error) (names []string, err error) {
	defer func() {
		if err != nil {
			for _, name := range names {
				_ = os.Remove(filepath.Join(b.Dir, name))
			}
			names = nil
		}
	}()
	for _, path := range paths {
		file, err := open(path)
		if err != nil {
			return names, err
		}
		var name string
		if err = judge(path); err == nil {
			name, err = b.Put(ctx, filepath.Base(path), file)
		}
		_ = file.Close()
		if err != nil {
			return names, fmt.Errorf("%s: %w", dirtree.Short(path), err)
		}
		names = append(names, name)
	}
	return names, nil
}

// open opens a file of the person, and follows no link.
func open(path string) (*os.File, error) {
	file, err := dirtree.Open("/", path)
	var other *dirtree.NotRegularError
	if errors.As(err, &other) && other.Is == "a link" {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return nil, fault.New("if you mean that file, name it: "+target, "%w; an agent can make links, so none is followed", other)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist", dirtree.Short(path))
	}
	return file, err
}

// Put copies from into the box, under the given name or a similar one, which it returns.
func (b *Box) Put(ctx context.Context, name string, from io.Reader) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	free, err := b.free()
	if err != nil {
		return "", err
	}
	copied, err := os.CreateTemp(b.Temporary, "attachment-*")
	if err != nil {
		return "", fault.Wrap("copy", err, "")
	}
	defer os.Remove(copied.Name()) // fails after a success, because it was renamed
	n, err := io.Copy(copied, io.LimitReader(bounded.Reader(ctx, from), min(free, maxFile)+1))
	err = errors.Join(err, copied.Chmod(0o444), copied.Close())
	switch {
	case err != nil:
		return "", fault.Wrap("copy", err, "")
	case n > maxFile:
		return "", fmt.Errorf("is larger than %d MiB, the limit of one attachment", maxFile>>20)
	case n > free:
		return "", fault.New("remove some of "+b.Dir, "the attachments of this session would be more than %d MiB", maxBox>>20)
	}
	if name, err = b.unused(plainName(name)); err != nil {
		return "", err
	}
	return name, os.Rename(copied.Name(), filepath.Join(b.Dir, name))
}

// free returns how many more bytes the box may have.
func (b *Box) free() (int64, error) {
	entries, err := os.ReadDir(b.Dir)
	if err != nil {
		return 0, err
	}
	free := int64(maxBox)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			free -= info.Size()
		}
	}
	return max(free, 0), nil
}

// maxName is the longest name of a copy, in bytes.
const maxName = 100

// plainName returns a name that needs no quotes in any shell or prompt.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, name)
	ext := filepath.Ext(name)
	stem := strings.TrimLeft(strings.TrimSuffix(name, ext), "-.")
	if len(ext) > maxName/4 {
		ext = ""
	}
	for len(stem)+len(ext) > maxName {
		runes := []rune(stem)
		stem = string(runes[:len(runes)-1])
	}
	if stem == "" {
		stem = "file"
	}
	return stem + ext
}

// unused returns the name, or a similar one, that no copy has.
func (b *Box) unused(name string) (string, error) {
	ext := filepath.Ext(name)
	for n, try := 2, name; n < 10_000; n++ {
		if _, err := os.Lstat(filepath.Join(b.Dir, try)); errors.Is(err, fs.ErrNotExist) {
			return try, nil
		}
		try = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext)
	}
	return "", fault.New("remove some of "+b.Dir, "too many attachments are named %s", name)
}

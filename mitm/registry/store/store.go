// Package store keeps downloads from package registries, for all sessions of this machine: blobs by
// their SHA-256, and notes about them by any key.
//
// It is a cache: everything in it can be downloaded again. Nothing in it is trusted: a blob is
// compared with its name whenever it is opened, and a malformed note counts as missing. Files are
// written under another name and renamed, so several processes can use one directory.
package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"
)

// Store is a directory of blobs and notes. It is safe for concurrent use.
type Store struct {
	dir   string
	limit int64        // in bytes; 0 for none
	added atomic.Int64 // bytes since the last Shrink
}

// Open returns the store in a directory, which it makes if it is missing.
func Open(dir string) (*Store, error) {
	for _, part := range []string{"blobs", "notes", "incoming"} {
		if err := os.MkdirAll(filepath.Join(dir, part), 0o700); err != nil {
			return nil, fmt.Errorf("open the store of packages: %w", err)
		}
	}
	return &Store{dir: dir}, nil
}

// Bound shrinks the store whenever it has grown by an eighth of limit, so that it stays smaller
// than limit. A single large addition may exceed it.
func (s *Store) Bound(limit int64) { s.limit = limit }

// Close shrinks the store to its limit if it has grown since it was last shrunk. A store of many
// gigabytes takes most of a second to walk, so a program that has stored nothing does not.
func (s *Store) Close() error {
	if s.limit == 0 || s.added.Swap(0) == 0 {
		return nil
	}
	_, _, err := s.Shrink(s.limit)
	return err
}

// shrink is called before a blob is started, so that it cannot remove a new blob before its first use.
func (s *Store) shrink() error {
	if grown := s.limit / 8; grown == 0 || s.added.Load() < grown || s.added.Swap(0) < grown {
		return nil
	}
	_, _, err := s.Shrink(s.limit - s.limit/8)
	return err
}

// ErrCorrupt means that a blob did not match its name. It has been removed.
var ErrCorrupt = errors.New("the stored bytes have changed since they were downloaded")

// Incoming is a blob that is being written.
type Incoming struct {
	store *Store
	file  *os.File
	sum   hash.Hash
	size  int64

	failed bool // bytes could not be written
}

// New starts a blob.
func (s *Store) New() (*Incoming, error) {
	if err := s.shrink(); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Join(s.dir, "incoming"), "")
	if err != nil {
		return nil, fmt.Errorf("store a package: %w", err)
	}
	return &Incoming{store: s, file: f, sum: sha256.New()}, nil
}

// Write adds bytes.
func (i *Incoming) Write(p []byte) (int, error) {
	n, err := i.file.Write(p)
	_, _ = i.sum.Write(p[:n])
	i.size += int64(n)
	i.store.added.Add(int64(n))
	if err != nil {
		i.failed = true
		return n, fmt.Errorf("store a package: %w", err)
	}
	return n, nil
}

// Failed reports whether bytes could not be written, for example to a full disk.
func (i *Incoming) Failed() bool { return i.failed }

// Size returns how many bytes were written.
func (i *Incoming) Size() int64 { return i.size }

// ReadAt reads what was written.
func (i *Incoming) ReadAt(p []byte, at int64) (int, error) { return i.file.ReadAt(p, at) }

// Drop discards the blob. It does nothing after Keep.
func (i *Incoming) Drop() {
	if i.file != nil {
		_ = i.file.Close()
		_ = os.Remove(i.file.Name())
		i.file = nil
	}
}

// Keep stores the blob under its SHA-256, which it returns in hex.
func (i *Incoming) Keep() (string, error) {
	sum := hex.EncodeToString(i.sum.Sum(nil))
	path := i.store.blob(sum)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("store a package: %w", err)
	}
	return sum, i.rename(path)
}

// rename gives the written file its final path. It does not wait for the disk, because a file that
// a power cut damages is recognized when it is opened.
func (i *Incoming) rename(path string) error {
	err := i.file.Close()
	name := i.file.Name()
	i.file = nil
	if err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		_ = os.Remove(name)
		return fmt.Errorf("store a package: %w", err)
	}
	return nil
}

// Blob is a stored blob, open for reading.
type Blob struct {
	*os.File
	Size int64
}

// Open opens a blob and compares its bytes with its name. The error is fs.ErrNotExist if there is
// none, or ErrCorrupt.
func (s *Store) Open(sum string) (*Blob, error) {
	if !isSum(sum) {
		return nil, fs.ErrNotExist
	}
	f, err := os.Open(s.blob(sum))
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("read a stored package: %w", err)
	}
	if hex.EncodeToString(h.Sum(nil)) != sum {
		_ = f.Close()
		_ = os.Remove(s.blob(sum))
		return nil, ErrCorrupt
	}
	use(s.blob(sum))
	return &Blob{File: f, Size: size}, nil
}

// Size returns how many bytes a stored blob has; 0 if there is none.
func (s *Store) Size(sum string) int64 {
	if !isSum(sum) {
		return 0
	}
	info, err := os.Stat(s.blob(sum))
	if err != nil {
		return 0
	}
	return info.Size()
}

func (s *Store) blob(sum string) string { return filepath.Join(s.dir, "blobs", sum[:2], sum) }

func isSum(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && hex.EncodeToString(b) == s
}

// Note stores a value as JSON under a key, in place of an older one.
func (s *Store) Note(key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("store a note about a package: %w", err)
	}
	i, err := s.New()
	if err != nil {
		return err
	}
	defer i.Drop()
	if _, err := i.Write(data); err != nil {
		return err
	}
	return i.rename(s.note(key))
}

// Read reads the value of a key, and reports whether there is one.
func (s *Store) Read(key string, value any) bool {
	data, err := os.ReadFile(s.note(key))
	use(s.note(key))
	return err == nil && json.Unmarshal(data, value) == nil
}

// use marks a file as used now, for Shrink.
func use(path string) {
	now := time.Now()
	_ = os.Chtimes(path, now, now)
}

func (s *Store) note(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.dir, "notes", hex.EncodeToString(sum[:]))
}

// Shrink removes the least recently used files until at most limit bytes are left. It returns how
// many bytes it removed and how many are left. Files that are being written stay for a day.
func (s *Store) Shrink(limit int64) (removed, left int64, err error) {
	type file struct {
		path string
		size int64
		used time.Time
	}
	var files []file
	err = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if filepath.Base(filepath.Dir(path)) == "incoming" && time.Since(info.ModTime()) < 24*time.Hour {
			return nil
		}
		files = append(files, file{path, info.Size(), info.ModTime()})
		left += info.Size()
		return nil
	})
	if err != nil {
		return 0, left, fmt.Errorf("shrink the store of packages: %w", err)
	}
	slices.SortFunc(files, func(a, b file) int { return a.used.Compare(b.used) })
	for _, f := range files {
		if left <= limit {
			break
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, left, fmt.Errorf("shrink the store of packages: %w", err)
		}
		removed, left = removed+f.size, left-f.size
	}
	return removed, left, nil
}

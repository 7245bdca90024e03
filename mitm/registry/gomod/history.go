package gomod

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// maxHistory bounds how many stored look-ups are read.
const maxHistory = 50_000

// firstDatabase is before the first checksum database. A file with an earlier time has lost its
// own time, as happens in caches of images and archives, and would make young versions look old.
var firstDatabase = time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC)

// History returns the heads in the look-ups that the go command has stored in a module
// cache ("go env GOMODCACHE"), of the database with that verifier key. Each look-up has a
// signed head, and the file's time says since when this host has had it. Heads that are not
// signed with the key are skipped. A cache that does not exist has no heads.
func History(moduleCache, verifierKey string) ([]Head, error) {
	verifier, err := note.NewVerifier(verifierKey)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(filepath.Join(moduleCache, "cache", "download", "sumdb", filepath.FromSlash(verifier.Name()), "lookup"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var heads []Head
	files := 0
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // a file that cannot be read proves nothing
		}
		if files++; files > maxHistory {
			return fs.SkipAll
		}
		if head, ok := storedHead(root, path, verifier); ok {
			heads = append(heads, head)
		}
		return nil
	})
	return heads, err
}

// storedHead reads the head in one stored look-up.
func storedHead(root *os.Root, path string, verifier note.Verifier) (Head, bool) {
	info, err := root.Stat(path)
	if err != nil || info.Size() > maxRecord || info.ModTime().Before(firstDatabase) {
		return Head{}, false
	}
	data, err := root.ReadFile(path)
	if err != nil {
		return Head{}, false
	}
	_, _, signed, err := tlog.ParseRecord(data)
	if err != nil {
		return Head{}, false
	}
	tree, err := openTree(signed, verifier)
	if err != nil {
		return Head{}, false
	}
	return Head{Size: tree.N, Time: info.ModTime(), Signed: signed}, true
}

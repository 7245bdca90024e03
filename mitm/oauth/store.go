package oauth

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// store keeps the text of a login.
type store interface {
	// place says where the store is, for people. It is different for each store.
	place() string
	// load returns the text. The error is fs.ErrNotExist if there is none.
	load() ([]byte, error)
	// replace replaces the text durably: completely or not at all.
	replace(text []byte) error
}

// maxText bounds the text of a login, in bytes.
const maxText = 1 << 20

// Read reads the login as it is stored now.
func (s *Source) Read() (Token, error) {
	text, err := s.store.load()
	if err != nil {
		return Token{}, err
	}
	return s.parse(text)
}

// write stores a renewed token in place of the one with the refresh token by. It reads the
// text again first, so that members which other programs have added or changed stay. It
// does nothing if the stored login has another refresh token, because a person has logged
// in since then.
func (s *Source) write(t Token, by string) error {
	text, err := s.store.load()
	if err == nil {
		var now Token
		if now, err = s.parse(text); err == nil && now.Refresh != by {
			return nil
		}
	}
	if err == nil {
		text, err = s.merge(text, t, time.Now())
	}
	if err == nil {
		err = s.store.replace(text)
	}
	if err != nil {
		return fmt.Errorf("store the login of %s: %w", s.Name, err)
	}
	return nil
}

// file is a store in the file of that path.
type file string

func (f file) place() string { return string(f) }

func (f file) load() ([]byte, error) {
	info, err := os.Stat(string(f))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxText {
		return nil, fmt.Errorf("%s is not a small regular file", string(f))
	}
	return os.ReadFile(string(f))
}

func (f file) replace(text []byte) error {
	path, err := filepath.EvalSymlinks(string(f)) // replace the file, not a link to it
	if err != nil {
		return err
	}
	err = wholefile.Write(path, text, 0o600, renameio.IgnoreUmask(), renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	syncDirectory(filepath.Dir(path))
	return nil
}

// syncDirectory makes the replacement of a file in a directory survive a power failure,
// if the file system can do that, because the old refresh token is no longer valid. It
// ignores errors, because the file has the new text anyway.
func syncDirectory(path string) {
	if dir, err := os.Open(path); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
}

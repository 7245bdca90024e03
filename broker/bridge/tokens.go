package bridge

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
)

// LeaveTokens writes a token into each directory, by which the host finds out whether it sees the
// same directory. If a token cannot be written, it says why. remove must be called before the agent
// starts; it removes them once.
func LeaveTokens(places ...string) (tokens []seen.Token, remove func() error) {
	var written []string
	for _, place := range places {
		var random [16 + 32]byte
		_, _ = rand.Read(random[:]) // never fails
		token := seen.Token{Place: place, Name: seen.TokenName(hex.EncodeToString(random[:16])), Content: hex.EncodeToString(random[16:])}
		path := filepath.Join(place, token.Name)
		if err := writeToken(path, token.Content); err != nil {
			token = seen.Token{Place: place, Failed: err.Error()}
		} else {
			written = append(written, path)
		}
		tokens = append(tokens, token)
	}
	return tokens, sync.OnceValue(func() (err error) {
		for _, path := range written {
			if failed := os.Remove(path); !errors.Is(failed, os.ErrNotExist) {
				err = errors.Join(err, failed)
			}
		}
		return err
	})
}

// writeToken creates a file, or none after an error.
func writeToken(path, content string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path)
	}
	return err
}

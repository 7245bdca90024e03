package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
)

// Another agent in the workspace may put anything in a token's place; looking for it ends at once.
func TestFindToken(t *testing.T) {
	token := seen.Token{Name: seen.TokenName(strings.Repeat("0", 32)), Content: strings.Repeat("a", 64)}
	for name, tt := range map[string]struct {
		put  func(path string) error
		want string // of the error; empty: it is found
	}{
		"there":       {func(path string) error { return os.WriteFile(path, []byte(token.Content), 0o600) }, ""},
		"nothing":     {func(string) error { return nil }, "is not on this machine"},
		"another":     {func(path string) error { return os.WriteFile(path, []byte("b"), 0o600) }, "has other content"},
		"a pipe":      {func(path string) error { return unix.Mkfifo(path, 0o600) }, "not a regular file"},
		"a directory": {func(path string) error { return os.Mkdir(path, 0o700) }, "not a regular file"},
		"a way out":   {func(path string) error { return os.Symlink("/dev/zero", path) }, "escapes"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := tt.put(filepath.Join(dir, token.Name)); err != nil {
				t.Fatal(err)
			}
			err := findToken(dir, token)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v", err)
			}
		})
	}
}

package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The prefix is set, and set again, and the rest of the file stays as it is.
func TestSetPrefix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	for _, key := range []string{"ctrl+b", "", "ctrl+s"} {
		if err := SetPrefix(path, key); err != nil {
			t.Fatal(err)
		}
		c, err := Load(path)
		if err != nil || c.Prefix != key {
			t.Fatalf("prefix %q, %v", c.Prefix, err)
		}
		if key == "" {
			if err := os.WriteFile(path, []byte("{\n\t\"theme\": \"dark\",\n\t\"prefix\": \"\",\n\t\"mouse\": false\n}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	data, err := os.ReadFile(path)
	if want := "{\n\t\"theme\":  \"dark\",\n\t\"prefix\": \"ctrl+s\",\n\t\"mouse\":  false\n}\n"; err != nil || string(data) != want {
		t.Errorf("%v\n%s", err, data)
	}
}

// A file that is wrong is left alone.
func TestSetPrefixKeepsAFileThatIsWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	const wrong = `{"theme": "dark", "no such": 1}`
	if err := os.WriteFile(path, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	err := SetPrefix(path, "ctrl+b")
	if data, _ := os.ReadFile(path); err == nil || !strings.Contains(err.Error(), "no such") || string(data) != wrong {
		t.Errorf("%v\n%s", err, data)
	}
}

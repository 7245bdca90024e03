package pathx

import (
	"os"
	"path/filepath"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	composed   = "caf\u00e9"
	decomposed = "cafe\u0301"
)

func TestSpellingsOfAName(t *testing.T) {
	base := t.TempDir()
	if err := os.Mkdir(filepath.Join(base, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".git", filepath.Join(base, decomposed)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"\u212aeys", decomposed + ".txt"} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(base, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
	r, err := New(base, "", "/workspace")
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		composed + "/hooks/x":       ".git/hooks/x",
		decomposed + "/hooks/x":     ".git/hooks/x",
		"/workspace/" + composed:    ".git",
		composed + ".txt":           decomposed + ".txt",
		"Keys":                      "\u212aeys",
		"keys":                      "keys",
		"new-" + composed:           "new-" + composed,
		"new-" + decomposed + "/a":  "new-" + decomposed + "/a",
		"new-" + composed + "/../a": "",
	} {
		t.Run(value, func(t *testing.T) {
			got, err := r.Resolve(value)
			if want == "" {
				if err == nil {
					t.Errorf("%q is %q", value, got.Path)
				}
				return
			}
			if err != nil || got.Path != filepath.Join(r.Base, want) {
				t.Errorf("%q is %q (%v), want %q", value, got.Path, err, want)
			}
		})
	}
	host, err := r.View(t.Context()).ResolveHost(filepath.Join(r.Base, composed+".txt"))
	if err != nil || host.Exists {
		t.Errorf("for git the other spelling is another file: %+v (%v)", host, err)
	}
}

// With two files under spellings of one name, it is unknown which one a server would open.
func TestSeveralSpellingsAreRefused(t *testing.T) {
	base := t.TempDir()
	for _, name := range []string{"a\u0323\u0302", "a\u0302\u0323"} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(base, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
	r, err := New(base, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Resolve("\u1ead"); err == nil {
		t.Errorf("resolved to %q", got.Path)
	}
}

// No characters outside ASCII are normalized to other ASCII characters than these.
func TestOnlySomeNamesHaveSpellings(t *testing.T) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		for _, c := range norm.NFC.String(string(r)) {
			if c < 0x80 && !hasSpellings(string(c)) {
				t.Errorf("%U is normalized to %q", r, c)
			}
		}
	}
}

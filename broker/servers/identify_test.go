package servers

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// What would start another program, or the same one after a change, is identified as another
// version; nothing else is, and what is no file has none.
func TestIdentify(t *testing.T) {
	dir := t.TempDir()
	program, script := filepath.Join(dir, "node"), filepath.Join(dir, "server.js")
	write := func(path, text string) {
		t.Helper()
		if err := wholefile.Write(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		longAgo := time.Unix(1, 0) // as programs that were packed reproducibly have it
		if err := os.Chtimes(path, longAgo, longAgo); err != nil {
			t.Fatal(err)
		}
	}
	write(program, "one")
	write(script, "one")
	d, env := Dir{version: "22.1.0"}, map[string]string{"A": "1"}
	argv := []string{program, script, "--plain"}
	seen := map[string]string{}
	differs := func(what, id string) {
		t.Helper()
		if before, is := seen[id]; is || id == "" {
			t.Errorf("%s is identified as %q, like %q", what, id, before)
		}
		seen[id] = what
	}
	differs("the program", d.Identify(argv, env))
	if _, same := seen[d.Identify(argv, env)]; !same {
		t.Error("the same program is identified as another one")
	}
	differs("another version of Node.js", Dir{version: "22.1.1"}.Identify(argv, env))
	differs("more words", d.Identify([]string{program, script, "--plain", ""}, env))
	differs("another environment", d.Identify(argv, map[string]string{"A": "2"}))
	differs("no environment", d.Identify(argv, nil))
	write(script, "two")
	differs("another script of the same length and time", d.Identify(argv, env))
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{argv, {"node", script}, nil} {
		if id := d.Identify(argv, env); id != "" {
			t.Errorf("%q is identified as %q", argv, id)
		}
	}
}

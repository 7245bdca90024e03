package reach_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
)

const (
	local = "unix:///run/engine.sock"
	far   = "ssh://me@build-box"
)

func TestTheWayToTryFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		wanted  reach.Way
		files   reach.Files
		address string
		way     reach.Way
		other   bool
		says    string
	}{
		"this machine":            {"", "", local, reach.Sockets, true, "each start finds out"},
		"automatic":               {reach.Auto, reach.AutoFiles, local, reach.Sockets, true, "each start finds out"},
		"shared files wanted":     {"", reach.Shared, local, reach.Sockets, true, "each start finds out"},
		"copied files wanted":     {"", reach.Copied, local, reach.ByStream, false, "files are copied"},
		"a port of this machine":  {"", "", "tcp://127.0.0.1:2375", reach.ByStream, false, "another kernel"},
		"a named pipe":            {"", "", "npipe:////./pipe/engine", reach.ByStream, false, "another kernel"},
		"another machine":         {"", "", "tcp://10.0.0.1:2376", reach.ByStream, false, "another machine"},
		"another machine, by ssh": {"", "", far, reach.ByStream, false, "another machine"},
		"wanted":                  {reach.ByStream, "", local, reach.ByStream, false, "config.json"},
		"wanted sockets":          {reach.Sockets, "", "tcp://10.0.0.1:2376", reach.Sockets, false, "config.json"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &reach.Ways{Wanted: tt.wanted, WantedFiles: tt.files, Path: filepath.Join(t.TempDir(), "engines.json")}
			if way, other := w.First(tt.address, "1"); way != tt.way || other != tt.other {
				t.Errorf("%s, %v", way, other)
			}
			if says := w.Describe(tt.address, "1"); !strings.Contains(says, tt.says) {
				t.Errorf("it says %q", says)
			}
		})
	}
}

func TestHowAnEngineGetsFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		way     reach.Way
		wanted  reach.Files
		address string
		found   reach.Files
		files   reach.Files
		certain bool
		says    string
	}{
		"this machine":               {"", "", local, "", reach.Shared, false, "each start finds out"},
		"automatic":                  {reach.ByStream, reach.AutoFiles, local, "", reach.Shared, false, "each start finds out"},
		"found to be shared":         {"", "", local, reach.Shared, reach.Shared, false, "has worked for a session"},
		"found to be copied":         {"", "", local, reach.Copied, reach.Copied, true, "does not see this machine's files; a session"},
		"wanted shared":              {"", reach.Shared, local, reach.Copied, reach.Shared, true, "shared: config.json"},
		"wanted copied":              {"", reach.Copied, local, "", reach.Copied, true, "copied: config.json"},
		"mounted sockets wanted":     {reach.Sockets, "", local, reach.Copied, reach.Shared, true, "because config.json wants sockets"},
		"by ssh":                     {"", "", far, "", reach.Copied, true, "another machine"},
		"by ssh, wanted shared":      {"", reach.Shared, far, "", reach.Shared, true, "config.json"},
		"tcp":                        {"", "", "tcp://build-box:2376", "", reach.Copied, true, "another machine"},
		"https":                      {"", "", "https://192.168.1.2", "", reach.Copied, true, "another machine"},
		"http":                       {"", "", "http://[fe80::1]:2375", "", reach.Copied, true, "another machine"},
		"a port of this machine":     {"", "", "tcp://localhost:2375", "", reach.Shared, false, "each start finds out"},
		"its loopback network":       {"", "", "http://127.1.2.3:2375", "", reach.Shared, false, "each start finds out"},
		"its loopback address":       {"", "", "tcp://[::1]:2375", "", reach.Shared, false, "each start finds out"},
		"that address, of IPv4":      {"", "", "tcp://[::ffff:127.0.0.1]:2375", "", reach.Shared, false, "each start finds out"},
		"a name that begins so":      {"", "", "tcp://127.0.0.1.example:2375", "", reach.Copied, true, "another machine"},
		"an address nobody can read": {"", "", "tcp://[", "", reach.Copied, true, "another machine"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &reach.Ways{Wanted: tt.way, WantedFiles: tt.wanted, Path: filepath.Join(t.TempDir(), "engines.json")}
			if err := w.Remember(tt.address, "1", reach.Found{Files: tt.found}); err != nil {
				t.Fatal(err)
			}
			if f, certain := w.FilesOf(tt.address, "1"); f != tt.files || certain != tt.certain {
				t.Errorf("%s, %v", f, certain)
			}
			if says := w.DescribeFiles(tt.address, "1"); !strings.Contains(says, tt.says) || !strings.HasPrefix(says, string(tt.files)+": ") {
				t.Errorf("it says %q", says)
			}
		})
	}
}

func TestWhatIsFoundIsRememberedOfOneVersion(t *testing.T) {
	w := &reach.Ways{Path: filepath.Join(t.TempDir(), "engines.json")}
	for _, f := range []reach.Found{{Way: reach.ByStream}, {Files: reach.Copied}} {
		if err := w.Remember(local, "1", f); err != nil {
			t.Fatal(err)
		}
		if way, other := w.First(local, "1"); way != reach.ByStream || other {
			t.Errorf("%s, %v", way, other)
		}
	}
	if text, err := os.ReadFile(w.Path); err != nil || !strings.Contains(string(text), `"way": "stream"`) || !strings.Contains(string(text), `"files": "copied"`) {
		t.Errorf("%s, %v", text, err)
	}
	if says := w.Describe(local, "1"); !strings.Contains(says, "do not work") {
		t.Errorf("it says %q", says)
	}
	if way, other := w.First(local, "2"); way != reach.Sockets || !other {
		t.Errorf("of another version: %s, %v", way, other)
	}
	if f, certain := w.FilesOf(local, "2"); f != reach.Shared || certain {
		t.Errorf("of another version: %s, %v", f, certain)
	}
	for address, want := range map[string]bool{local: true, local + "2": false, "ssh://box": true} {
		t.Run(address, func(t *testing.T) {
			if got := w.Copies(address); got != want {
				t.Errorf("copies are known: %v", got)
			}
		})
	}
}

// Where files are copied, sockets are not tried.
func TestCopiedFilesGoByStream(t *testing.T) {
	w := &reach.Ways{Path: filepath.Join(t.TempDir(), "engines.json")}
	if err := w.Remember(local, "1", reach.Found{Files: reach.Copied}); err != nil {
		t.Fatal(err)
	}
	if way, other := w.First(local, "1"); way != reach.ByStream || other {
		t.Errorf("%s, %v", way, other)
	}
}

// An entry that this program would not write costs another try, and is replaced.
func TestWhatNobodyUnderstandsIsFoundAnew(t *testing.T) {
	const engine = local + " 1"
	for name, text := range map[string]string{
		"no JSON":           "no json",
		"an older program":  `{"` + engine + `": "stream"}`,
		"no such way":       `{"` + engine + `": {"way": "smoke signals"}}`,
		"no such files":     `{"` + engine + `": {"files": "punched cards"}}`,
		"a newer program":   `{"` + engine + `": {"way": "stream", "speed": 1}}`,
		"not about engines": `[1]`,
	} {
		t.Run(name, func(t *testing.T) {
			w := &reach.Ways{Path: filepath.Join(t.TempDir(), "engines.json")}
			if err := os.WriteFile(w.Path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if way, other := w.First(local, "1"); way != reach.Sockets || !other {
				t.Errorf("%s, %v", way, other)
			}
			if err := w.Remember(local, "1", reach.Found{Files: reach.Copied}); err != nil {
				t.Fatal(err)
			}
			if f, certain := w.FilesOf(local, "1"); f != reach.Copied || !certain {
				t.Errorf("then %s, %v", f, certain)
			}
		})
	}
}

// A file that cannot be read costs another try, and is an error when something is to be stored.
func TestRememberingInAFileThatIsNone(t *testing.T) {
	w := &reach.Ways{Path: t.TempDir()}
	if way, other := w.First(local, "1"); way != reach.Sockets || !other {
		t.Errorf("%s, %v", way, other)
	}
	if err := w.Remember(local, "1", reach.Found{Way: reach.ByStream}); err == nil || !strings.Contains(err.Error(), "remember how") {
		t.Errorf("%v", err)
	}
}

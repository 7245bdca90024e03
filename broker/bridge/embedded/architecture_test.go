package embedded

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// An engine gets the bridge of its architecture, by any of its names; an unknown one is an error.
func TestInstallForAnArchitecture(t *testing.T) {
	cache := t.TempDir()
	for name, want := range map[string]elf.Machine{
		"x86_64": elf.EM_X86_64, "amd64": elf.EM_X86_64, "aarch64": elf.EM_AARCH64, "arm64": elf.EM_AARCH64,
		"riscv64": elf.EM_NONE, "": elf.EM_NONE,
	} {
		t.Run(name, func(t *testing.T) {
			path, err := Install(cache, name)
			if want == elf.EM_NONE {
				if err == nil || !strings.Contains(err.Error(), "architecture") || fault.Hint(err) != "use an engine on amd64 or arm64" {
					t.Errorf("%s, %v (%s)", path, err, fault.Hint(err))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			f, err := elf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Machine != want {
				t.Errorf("it is for %v", f.Machine)
			}
			if libraries, err := f.ImportedLibraries(); err != nil || len(libraries) > 0 || f.Section(".interp") != nil {
				t.Errorf("it is not static: %v, %v", libraries, err)
			}
		})
	}
}

// Digests are those of the installed files.
func TestDigestsAreThoseOfTheFiles(t *testing.T) {
	digests := Digests()
	if len(digests) != 2 {
		t.Fatalf("there are %v", digests)
	}
	cache := t.TempDir()
	for architecture, digest := range digests {
		path, err := Install(cache, architecture)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest || !strings.HasSuffix(path, "bridge-"+digest[:16]) {
			t.Errorf("%s has the digest %x, not %s", path, sum, digest)
		}
	}
}

// A missing or damaged bridge in the program is an error.
func TestABridgeThatIsNotInTheProgram(t *testing.T) {
	b, err := find(built, "amd64")
	if err != nil {
		t.Fatal(err)
	}
	digest, packed := hex.EncodeToString(b.digest[:])+"\n", b.packed
	for name, c := range map[string]struct {
		file        []byte
		says, hints string
	}{
		"none":         {nil, "built without the bridge", "make build"},
		"no digest":    {[]byte("x"), "unpack the bridge for amd64: it has no digest", "make build"},
		"not a digest": {append(bytes.Repeat([]byte("x"), 64), '\n'), "unpack the bridge for amd64: it has no digest", "make build"},
		"not packed":   {[]byte(digest + "x"), "unpack the bridge for amd64: ", "make build"},
		"cut":          {append([]byte(digest), packed[:len(packed)-9]...), "unpack the bridge for amd64: ", "make build"},
		"changed":      {append([]byte(strings.Replace(digest, "0", "1", 1)), packed...), "unpack the bridge for amd64: it does not have its digest", "make build"},
	} {
		t.Run(name, func(t *testing.T) {
			from := fstest.MapFS{}
			if c.file != nil {
				from["built/ironcurtain-mux-bridge-linux-amd64"] = &fstest.MapFile{Data: c.file}
			}
			b, err := find(from, "amd64")
			if err == nil {
				_, err = b.unpack()
			}
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(fault.Hint(err), c.hints) {
				t.Errorf("%v (%s)", err, fault.Hint(err))
			}
		})
	}
}

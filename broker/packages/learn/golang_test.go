package learn

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGoProxies(t *testing.T) {
	for value, want := range map[string][]string{
		"https://a.example,direct":                  {"https://a.example"},
		"https://a.example|https://b.example/x,off": {"https://a.example", "https://b.example/x"},
		"direct":  nil,
		"off":     nil,
		"":        nil,
		" , | ,x": {"x"},
	} {
		t.Run(value, func(t *testing.T) {
			if diff := cmp.Diff(want, goProxies(value)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A module that the person's own go command gets without a proxy is not for one.
func TestPrivateModules(t *testing.T) {
	for name, c := range map[string]struct{ private, noProxy, want string }{
		"as it comes":      {"a.example", "a.example", "a.example"},
		"set alone":        {"", "a.example,*.b.example", "a.example *.b.example"},
		"set as well":      {"a.example", "b.example/", "a.example b.example/"},
		"set to no module": {"a.example", "none", "a.example"},
		"neither":          {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(privateModules(goEnv{GOPRIVATE: c.private, GONOPROXY: c.noProxy}), " "); got != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// sumKey makes the verifier key of a database.
func sumKey(name string) string {
	key := append([]byte{1}, strings.Repeat("k", 32)...)
	sum := sha256.Sum256(append([]byte(name+"\n"), key...))
	return name + "+" + hex.EncodeToString(sum[:4]) + "+" + base64.StdEncoding.EncodeToString(key)
}

func TestKeyOfTheChecksumDatabase(t *testing.T) {
	key, root := sumKey("sum.example"), t.TempDir()
	file := filepath.Join(root, "src/cmd/go/internal/modfetch/key.go")
	program := filepath.Join(root, "bin/go")
	for name, c := range map[string]struct {
		env, source, program string
		want                 []string
	}{
		"in the source":             {"sum.example", `m = {"sum.example": "` + key + `"}`, "", []string{key}},
		"in the program":            {"sum.example", "", strings.Repeat("x", 1<<20-10) + "sum.example" + key + "more", []string{key}},
		"given":                     {key, "", "", []string{key}},
		"given with an address":     {key + " https://sum.example", "", "", []string{key}},
		"off":                       {"off", `"` + key + `"`, "", nil},
		"empty":                     {"", `"` + key + `"`, "", nil},
		"of another database":       {"other.example", `"` + key + `"`, "", nil},
		"given with a wrong hash":   {strings.Replace(key, "+", "+0", 1)[:len(key)], "", "", nil},
		"with a wrong hash":         {"sum.example", strings.Replace(key, "+", "+00000000+", 1), "", nil},
		"behind a name that is not": {"sum.example", "sum.example+1 " + key, "", []string{key}},
		"nowhere":                   {"sum.example", "", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, file, c.source)
			write(t, program, c.program)
			var a asker
			if diff := cmp.Diff(c.want, a.sumKeys(goEnv{GOSUMDB: c.env, GOROOT: root})); diff != "" {
				t.Error(diff)
			}
			if c.want == nil && len(a.Notes) == 0 {
				t.Error("nothing is said of it")
			}
		})
	}
}

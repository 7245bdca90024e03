package cargo

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/archive"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

func inspect(data []byte) (*registry.Inspection, error) {
	return Ecosystem{}.Inspect(&registry.Facts{Name: "foo"}, &registry.Version{Version: "1.0.0"}, &registry.File{}, bytes.NewReader(data), int64(len(data)))
}

func TestInspect(t *testing.T) {
	const manifest = "[package]\nname = \"foo\"\nversion = \"1.0.0\"\n"
	crate := func(manifest string, more ...string) []byte {
		return packed(t, append([]string{"foo-1.0.0/Cargo.toml", manifest}, more...)...)
	}
	for _, tc := range []struct {
		name string
		data []byte
		want string
	}{
		{"library", crate(manifest, "foo-1.0.0/src/lib.rs", ""), "[]"},
		{"build.rs", crate(manifest, "foo-1.0.0/build.rs", ""), "[build: build.rs]"},
		{"build elsewhere", crate(manifest + "build = 'src/x.rs'\n"), "[build: src/x.rs]"},
		{"build off", crate(manifest+"build = false\n", "foo-1.0.0/build.rs", ""), "[]"},
		{"build on", crate(manifest + "build = true\n"), "[build: build.rs]"},
		{"builds", crate(manifest + "build = ['a.rs','b.rs']\n"), "[build: several programs]"},
		{"hostile build", crate(manifest + `build = "\u001b[2J"`), "[build: (unreadable)]"},
		{"macros", crate(manifest + "[lib]\nproc-macro = true\n"), "[in the compiler: procedural macros]"},
		{"macros by the kind", crate(manifest + "[lib]\ncrate-type = ['proc-macro']\n"), "[in the compiler: procedural macros]"},
		{"another name", crate(strings.Replace(manifest, "foo", "bar", 1)), "another name"},
		{"another version", crate(strings.Replace(manifest, "1.0.0", "1.0.1", 1)), "another name"},
		{"names in capitals", crate("[package]\nNAME = \"foo\"\nVersion = \"1.0.0\"\n"), "another name"},
		{"no version", crate("[package]\nname = \"foo\"\n"), "another name"},
		{"project", crate(manifest + "[project]\nname = 'x'\n"), "older"},
		{"no package", crate("[lib]\n"), "no [package]"},
		{"broken", crate("[package"), "cannot be read"},
		{"no manifest", packed(t, "foo-1.0.0/cargo.toml", manifest), "no Cargo.toml"},
		{"manifest elsewhere", packed(t, "foo-1.0.0/a/Cargo.toml", manifest), "no Cargo.toml"},
		{"two manifests", crate(manifest, "foo-1.0.0/Cargo.toml", manifest), "twice"},
		{"another directory", packed(t, "foo-1.0.1/Cargo.toml", manifest), "top directory"},
		{"beside", crate(manifest, "foo-1.0.00/x", ""), "top directory"},
		{"link", crate(manifest, "foo-1.0.0/src", "-> /etc"), "a link"},
		{"cargo-ok", crate(manifest, "foo-1.0.0/.cargo-ok", ""), "unpacked"},
		{"a long name in pax form", crate(manifest, "foo-1.0.0/"+strings.Repeat("n", 120), ""), "pax records"},
		{"no archive", []byte("<html>"), "gzip"},
		{"two archives", append(crate(manifest), crate(manifest)...), "after its end"},
		{"large", crate(manifest, "foo-1.0.0/blob", strings.Repeat("\x00", archive.MaxDecoded)), "[" + notAll + "]"},
		{"large, manifest behind", packed(t, "foo-1.0.0/blob", strings.Repeat("\x00", archive.MaxDecoded), "foo-1.0.0/Cargo.toml", manifest), "too large to be inspected"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in, err := inspect(tc.data)
			got := ""
			if err != nil {
				reason := registry.ReasonContent
				if strings.Contains(tc.want, "too large") {
					reason = registry.ReasonLimit
				}
				registrytest.Refused(t, err, reason)
				got = err.Error()
			} else {
				got = fmt.Sprint(in.Scripts)
			}
			if !strings.Contains(got, tc.want) || (err != nil) == strings.HasPrefix(tc.want, "[") {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

func TestPins(t *testing.T) {
	const lock = "version = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\ndependencies = [\"a\"]\n\n" +
		"[[package]]\nname = \"a\"\nversion = \"1.2.3+x\"\nsource = \"registry+https://git.example/index\"\nchecksum = \"" + sha + "\"\n\n" +
		"[[package]]\nname = \"b\"\nversion = \"2.0.0\"\nsource = \"sparse+https://index.example/\"\n\n" +
		"[[package]]\nname = \"c\"\nversion = \"3.0.0\"\nsource = \"git+https://git.example/c#1\"\n"
	for _, tc := range []struct{ base, text, want string }{
		{"Cargo.lock", lock, "a@1.2.3+x b@2.0.0"},
		{"Cargo.lock", lock + "=======\n", "a@1.2.3+x b@2.0.0"},
		{"poetry.lock", lock, ""},
		{"Cargo.lock", "[[package]]\nname='../x'\nversion='1.0.0'\nsource='registry+x'\n", ""},
	} {
		var all []string
		for _, p := range (Ecosystem{}).Pins(tc.base, []byte(tc.text)) {
			all = append(all, p.Name+"@"+p.Version)
		}
		if got := strings.Join(all, " "); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.base, got, tc.want)
		}
	}
}

package cargo

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/registrytest"
)

func TestIndex(t *testing.T) {
	deps := `,"deps":[{"name":"serde","req":"^1","kind":"normal"},{"name":"x","package":"renamed","kind":"build"},{"name":"d","kind":"dev"},{"name":"e","registry":"https://other.example"}]`
	young := `{"name":"Foo_Bar","vers":"2.0.0" ` + deps + `,"cksum":"` + sha + `", "yanked":false,"pubtime":"2026-01-02T03:04:05Z","v":2}`
	u := upstream{"config.json": plainConfig, "fo/o_/foo_bar": strings.Join([]string{
		line("Foo_Bar", "1.0.0", ""), line("other", "9.0.0", ""), line("Foo_Bar", "1.0", ""), "",
		strings.Replace(line("Foo_Bar", "1.1.0", ""), "false", "true", 1), line("Foo_Bar", "2.0.0-rc.1", `,"pubtime":"soon"`),
		young, strings.Replace(line("Foo_Bar", "3.0.0", ""), sha, sha[2:], 1),
	}, "\n")}
	got, facts, err := ask(t, u, "https://index.example/", "fo/o_/foo_bar", "2.0.0")
	want := line("Foo_Bar", "1.0.0", "") + "\n" + strings.Replace(line("Foo_Bar", "1.1.0", ""), "false", "true", 1) + "\n" + line("Foo_Bar", "2.0.0-rc.1", `,"pubtime":"soon"`) + "\n"
	if got != want || err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	if all, _, _ := ask(t, u, "https://index.example/", "fo/o_/foo_bar"); all != want+young+"\n" {
		t.Errorf("%s", all)
	}
	var told []string
	for _, v := range facts.Versions {
		told = append(told, fmt.Sprintf("%s %d %v %v %v", v.Version, v.Published.Year(), v.Withdrawn, v.Prerelease, v.Needs))
	}
	if got := strings.Join(told, "; "); facts.Name != "Foo_Bar" || got != "1.0.0 1 false false []; 1.1.0 1 true false []; 2.0.0-rc.1 1 false true []; 2.0.0 2026 false false [serde renamed]" {
		t.Errorf("%s: %s", facts.Name, got)
	}
	_, _, err = ask(t, u, "https://index.example/", "fo/o_/foo_bar", "1.0.0", "1.1.0", "2.0.0-rc.1", "2.0.0")
	registrytest.Refused(t, err, registry.ReasonQuarantine)

	_, facts, err = ask(t, u, "https://static.example/crates/", "Foo_Bar/1.0.0/download")
	if err != nil {
		t.Fatal(err)
	}
	v, file := facts.File("https://static.example/crates/Foo_Bar/1.0.0/download")
	if v == nil || v.Version != "1.0.0" || len(file.Digests) != 1 || fmt.Sprintf("%x", file.Digests[0].Sum) != sha {
		t.Errorf("%+v", file)
	}
	for _, path := range []string{"foo_bar/1.0.0/download", "Foo_Bar/3.0.0/download", "Foo_Bar/1.0.0", "x/Foo_Bar/1.0.0/download"} {
		_, _, err := ask(t, u, "https://static.example/crates/", path)
		registrytest.Refused(t, err, registry.ReasonUnlisted)
	}
	_, _, err = ask(t, u, "https://static.example/crates/", "gone/1.0.0/download")
	registrytest.Refused(t, err, registry.ReasonNotFound)
}

func TestDocumentsRefused(t *testing.T) {
	good := line("foo", "1.0.0", "")
	for name, text := range map[string]string{
		"no JSON":              "{",
		"two on a line":        good + " " + good,
		"a version twice":      good + "\n" + good,
		"a version in escapes": good + "\n" + strings.Replace(good, "1.0.0", `1.0.\u0030`, 1),
		"two spellings":        good + "\n" + line("Foo", "2.0.0", ""),
		"vers twice":           strings.Replace(good, `"vers"`, `"vers":"0.1.0","vers"`, 1),
		"Vers":                 strings.Replace(good, `"vers"`, `"Vers":"0.1.0","vers"`, 1),
		"cksum twice":          strings.Replace(good, `"cksum"`, `"\u0063ksum":"x","cksum"`, 1),
		"yanked":               strings.Replace(good, `false`, `"no"`, 1),
		"vers a number":        strings.Replace(good, `"1.0.0"`, `1`, 1),
		"deps":                 strings.Replace(good, `[]`, `[1]`, 1),
		"deps, name twice":     strings.Replace(good, `[]`, `[{"name":"a","name":"b"}]`, 1),
		"deps, no name":        strings.Replace(good, `[]`, `[{}]`, 1),
		"not UTF-8":            good + "\n\xff",
		"surrogate":            strings.Replace(good, `"foo"`, `"\udc00"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := ask(t, upstream{"config.json": plainConfig, "3/f/foo": text}, "https://index.example/", "3/f/foo")
			registrytest.Refused(t, err, registry.ReasonDocument)
		})
	}
	_, _, err := ask(t, upstream{"config.json": plainConfig, "3/f/foo": ""}, "https://index.example/", "3/f/foo")
	registrytest.Refused(t, err, registry.ReasonNotFound)
}

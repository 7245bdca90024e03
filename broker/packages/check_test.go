package packages

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

// The age of a Go module is how long this machine has known its record, so nobody is told that it
// was published then.
func TestCheckedModuleIsFirstSeen(t *testing.T) {
	w, proxy := newGoWorld(t)
	proxy.Add("code.example/lib", "v1.0.0", old())
	checked, err := w.host.Check(t.Context(), "go", "code.example/lib", "v1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if first := checked.Lines[0].Text; first != "go code.example/lib@v1.0.0, first seen here less than a minute ago" {
		t.Errorf("the first line is %q", first)
	}
}

// A version that is old enough is not compared with itself.
func TestCheckedVersionIsComparedWithAnother(t *testing.T) {
	w := newWorld(t, nil)
	w.npm.Add("left", forged.NPMVersion{Version: "1.0.0", Published: old().Add(-time.Hour)})
	w.npm.Add("left", forged.NPMVersion{Version: "2.0.4", Published: old(), Files: map[string]string{"more.js": ""}})
	checked, err := w.host.Check(t.Context(), "npm", "left", "2.0.4")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(checked.Lines, func(l preview.Line) bool { return strings.HasSuffix(l.Text, "; 1 new file: more.js") }) {
		t.Errorf("%+v", checked.Lines)
	}
}

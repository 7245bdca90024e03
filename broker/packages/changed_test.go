package packages

import (
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// Python's registries tell provenance and no publisher, so neither may hang on the other.
func TestWhatChangedBeforeAVersion(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2020, 1, n, 0, 0, 0, 0, time.UTC) }
	version := func(n int, publisher string, proof registry.Told) registry.Version {
		return registry.Version{Version: string(rune('0' + n)), Published: day(n), Publisher: publisher, Provenance: proof}
	}
	for name, c := range map[string]struct {
		versions        []registry.Version // the last is asked about
		publisher, lost bool
	}{
		"proof lost, no publisher told": {[]registry.Version{version(1, "", registry.Yes), version(2, "", registry.No)}, false, true},
		"proof no longer told":          {[]registry.Version{version(1, "a", registry.Yes), version(2, "a", registry.NotTold)}, false, true},
		"proof kept":                    {[]registry.Version{version(1, "", registry.Yes), version(2, "", registry.Yes)}, false, false},
		"proof only later":              {[]registry.Version{version(3, "", registry.Yes), version(2, "", registry.No)}, false, false},
		"publisher changed":             {[]registry.Version{version(1, "a", registry.No), version(2, "b", registry.No)}, true, false},
		"publisher came back":           {[]registry.Version{version(1, "a", registry.No), version(2, "b", registry.No), version(3, "a", registry.No)}, false, false},
		"publisher never told before":   {[]registry.Version{version(1, "", registry.No), version(2, "b", registry.No)}, false, false},
		"first version":                 {[]registry.Version{version(1, "a", registry.No)}, false, false},
	} {
		f := &registry.Facts{Name: "left", Versions: c.versions}
		if publisher, lost := changed(f, &f.Versions[len(f.Versions)-1]); publisher != c.publisher || lost != c.lost {
			t.Errorf("%s: publisher %v, provenance %v", name, publisher, lost)
		}
	}
}

func TestProvenanceIsShown(t *testing.T) {
	w := newWorld(t, nil)
	origin, way := w.host.Origins()[0], &Session{host: w.host, names: newNames(w.host.options)}
	for proof, want := range map[registry.Told]string{
		registry.Yes: "provenance: yes", registry.No: "provenance: none, before: yes", registry.NotTold: "provenance: unknown, before: yes",
	} {
		f := &registry.Facts{Name: "left", Versions: []registry.Version{
			{Version: "1.0.0", Published: time.Unix(1, 0), Provenance: registry.Yes},
			{Version: "1.0.1", Published: time.Unix(2, 0), Provenance: proof},
		}}
		j := &judged{Package: registry.Package{Origin: origin, Facts: f, Version: &f.Versions[1], File: &registry.File{}}}
		j.facts, j.verdict = w.host.judge(j.Package, way)
		var shown []string
		for _, line := range way.describe(j) {
			shown = append(shown, line.Text)
		}
		if all := strings.Join(shown, "\n"); !strings.Contains(all+"\n", want+"\n") {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
}

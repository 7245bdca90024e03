package packages

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// To judge all versions of a document takes a time that grows as their number does.
func TestManyVersions(t *testing.T) {
	w := newWorld(t, nil)
	w.open()
	o := &registry.Origin{Ecosystem: "npm", URL: &url.URL{Scheme: "https", Host: "npm.example", Path: "/"}}
	judge := func(n int) time.Duration {
		f := &registry.Facts{Name: "left"}
		for i := range n {
			f.Versions = append(f.Versions, registry.Version{Version: fmt.Sprintf("1.0.%d", i), Published: old(), Publisher: "alice"})
		}
		used := func() time.Duration {
			var u unix.Rusage
			if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
				t.Fatal(err)
			}
			return time.Duration(u.Utime.Nano())
		}
		before := used()
		for i := range n {
			w.host.judge(registry.Package{Origin: o, Facts: f, Version: &f.Versions[i]}, w.way)
			changed(f, &f.Versions[i])
		}
		return used() - before
	}
	few, many := judge(1000), judge(20_000)
	if many > 80*few+time.Second {
		t.Errorf("1000 versions took %v, 20,000 took %v", few, many)
	}
}

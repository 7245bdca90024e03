package npm

import (
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// To write a document takes a time that grows as the number of its versions does.
func TestManyVersions(t *testing.T) {
	o := &registry.Origin{URL: &url.URL{Scheme: "https", Host: "npm.example", Path: "/"}}
	used := func() int64 {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return u.Utime.Nano()
	}
	write := func(n int) int64 {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"1.0.%[1]d":{"name":"left","version":"1.0.%[1]d","dist":{"tarball":"https://npm.example/left/-/left-1.0.%[1]d.tgz","shasum":"%040[1]d"}}`, i))
		}
		f, err := read(o, "left", &registry.Document{Data: []byte(`{"name":"left","versions":{` + strings.Join(all, ",") + `}}`)})
		if err != nil || len(f.Versions) != n {
			t.Fatalf("%v", err)
		}
		before := used()
		for _, form := range []string{full, short} {
			if err := (Ecosystem{}).Write(io.Discard, f, &registry.Ask{Form: form}, func(string) bool { return false }); err != nil {
				t.Fatal(err)
			}
		}
		return used() - before
	}
	few, many := write(1000), write(40_000)
	if many > 160*few+1e9 {
		t.Errorf("1000 versions took %d ms, 40,000 took %d ms", few/1e6, many/1e6)
	}
}

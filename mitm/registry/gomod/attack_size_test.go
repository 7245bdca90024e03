package gomod

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// A go.mod of a megabyte takes back a hundred thousand versions of as many, each by a line of its
// own.
func TestManyRetractions(t *testing.T) {
	var versions []registry.Version
	var ranges []*modfile.Retract
	for i := range 100_000 {
		version := fmt.Sprintf("v1.%d.0", i)
		versions = append(versions, registry.Version{Version: version})
		ranges = append(ranges, &modfile.Retract{VersionInterval: modfile.VersionInterval{Low: version, High: version}})
	}
	if taken := takenBack(versions, ranges[1:]); len(taken) != len(versions)-1 || taken["v1.0.0"] {
		t.Errorf("%d are taken back", len(taken))
	}
}

func TestTakenBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	version := func() string {
		return fmt.Sprintf("v1.%d.%d", random.IntN(5), random.IntN(5)) + []string{"", "-rc.1"}[random.IntN(2)]
	}
	for range 200 {
		var versions []registry.Version
		var ranges []*modfile.Retract
		for range random.IntN(20) {
			versions = append(versions, registry.Version{Version: version()})
		}
		for range random.IntN(4) {
			ranges = append(ranges, &modfile.Retract{VersionInterval: modfile.VersionInterval{Low: version(), High: version()}})
		}
		taken := takenBack(versions, ranges)
		for _, v := range versions {
			want := false
			for _, r := range ranges {
				want = want || semver.Compare(r.Low, v.Version) <= 0 && semver.Compare(v.Version, r.High) <= 0
			}
			if taken[v.Version] != want {
				t.Fatalf("%s: %v, want %v", v.Version, taken[v.Version], want)
			}
		}
	}
}

package copies

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// edit makes a random change to one of a few paths of a directory.
func edit(r *rand.Rand, dir string) {
	names := []string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "d/e/b"}
	path := filepath.Join(dir, names[r.IntN(len(names))])
	what := r.IntN(7)
	if what != 5 && what != 6 {
		_ = os.RemoveAll(path)
		_ = os.MkdirAll(filepath.Dir(path), 0o700) // it fails where a file is in the way, and so does the rest
	}
	switch what {
	case 0:
	case 1:
		_ = os.MkdirAll(path, 0o700)
	case 2:
		_ = os.Symlink([]string{"a", "b", "../a"}[r.IntN(3)], path)
	case 5:
		_ = os.Chmod(path, []os.FileMode{0o600, 0o700}[r.IntN(2)])
	default:
		_ = os.WriteFile(path, []byte{byte('0' + r.IntN(3))}, 0o600)
	}
}

// snapshot returns the nodes of a directory.
func snapshot(t *testing.T, dir string) map[string]node {
	t.Helper()
	n, err := scan(t.Context(), dir, note{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]node{}
	for name, p := range n.nodes {
		out[name] = p.node
	}
	return out
}

func at(all map[string]node, name string) node {
	if n, ok := all[name]; ok {
		return n
	}
	return absent
}

// Whatever both sides do, the person's changes stay, the agent's changes land unless they are
// reported as staying, and nothing else changes. A second landing has nothing to do.
func TestLandLosesNothing(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			s := newSite(t, "mkdir -p d/e; echo 1 > a; echo 1 > d/a; echo 1 > d/e/a; ln -s a b")
			for range 3 {
				for range 1 + r.IntN(4) {
					edit(r, s.copy)
				}
				for range r.IntN(3) {
					edit(r, s.origin)
				}
				checkLanding(t, s)
			}
		})
	}
}

// checkLanding lands, and compares each path with both sides before.
func checkLanding(t *testing.T, s *site) {
	t.Helper()
	common, err := readNote(s.note)
	if err != nil {
		t.Fatal(err)
	}
	copied, origin := snapshot(t, s.copy), snapshot(t, s.origin)
	d := s.difference()
	l, err := Land(t.Context(), d, Which{})
	if err != nil {
		t.Fatal(err)
	}
	stays := map[string]bool{}
	for _, c := range append(l.Left, d.Changes...) {
		stays[c.Path] = stays[c.Path] || c.Stays != ""
	}
	after := snapshot(t, s.origin)
	all := maps.Clone(copied)
	maps.Copy(all, origin)
	maps.Copy(all, after)
	for name := range all {
		base, mine, yours, now := common.get(name).node, at(copied, name), at(origin, name), at(after, name)
		switch {
		case yours.kind == directory || now.kind == directory || mine.kind == directory: // may hold what either side has
		case !yours.same(base) && !now.same(yours):
			t.Errorf("%s: the person's %v became %v", name, yours, now)
		case yours.same(base) && !stays[name] && !now.same(mine):
			t.Errorf("%s: the agent's %v did not arrive, there is %v", name, mine, now)
		case !now.same(yours) && !now.same(mine):
			t.Errorf("%s: there is %v, which is nobody's", name, now)
		}
	}
	for _, c := range s.difference().Changes {
		if c.Stays == "" && c.copied.kind != directory && c.base.kind != directory && !stays[c.Path] {
			t.Errorf("%s %s is still to be landed", c.What, c.Path)
		}
	}
}

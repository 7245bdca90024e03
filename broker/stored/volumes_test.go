package stored

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/machine"
)

// engineOf returns the machine's real engine.
func engineOf(t *testing.T) *docker.Client {
	t.Helper()
	userHome, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	e, err := docker.Choice{}.Resolve(os.Getenv, userHome)
	if err != nil {
		t.Fatal(err)
	}
	c, err := docker.Connect(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// makeVolume makes a volume, removed at the end of the test.
func makeVolume(t *testing.T, c *docker.Client, name string, labels map[string]string) string {
	t.Helper()
	t.Cleanup(func() { _ = c.RemoveVolume(context.Background(), name) })
	if err := c.CreateVolume(t.Context(), name, labels); err != nil {
		t.Fatal(err)
	}
	return name
}

// sessionVolume makes a volume as a session of that layout does.
func sessionVolume(t *testing.T, c *docker.Client, l Layout, purpose string) string {
	t.Helper()
	if err := l.NoteVolumes(c.Endpoint().Address); err != nil {
		t.Fatal(err)
	}
	return makeVolume(t, c, "ironcurtain-"+filepath.Base(l.Run)+"-"+purpose, labelsOf(t, l))
}

func labelsOf(t *testing.T, l Layout) map[string]string {
	t.Helper()
	host, err := machine.Label()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{docker.LabelLease: l.Lock(), docker.LabelHost: host, LabelSession: filepath.Base(l.Dir)}
}

// volumesOf returns the names of volumes that are there, of those.
func volumesOf(t *testing.T, c *docker.Client, names ...string) (there []string) {
	t.Helper()
	list, err := c.Volumes(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		for _, v := range list {
			if v.Name == name {
				there = append(there, name)
			}
		}
	}
	return there
}

// A sweep removes the volumes of sessions that are gone from its own state directory, and what was
// not used for 30 days; it says why everything else stays.
func TestSweepVolumes(t *testing.T) {
	c, home := engineOf(t), shortTemp(t)
	kept, gone, elsewhere := storeSession(t, home, "shell", 0), storeSession(t, home, "shell", 0), storeSession(t, shortTemp(t), "shell", 0)
	ofGone := labelsOf(t, gone)
	foreign := maps.Clone(ofGone)
	foreign[docker.LabelHost] = "another\x1b[31m-machine"
	unowned := map[string]string{docker.LabelHost: ofGone[docker.LabelHost]}
	used, unused := objectsOf(t, home, "/used"), objectsOf(t, home, "/unused")
	theirs := objectsOf(t, home, "/theirs")
	theirs.Labels[LabelHome] = "/nonesuch"
	ago := time.Now().Add(-objectsKept - time.Hour)
	short := filepath.Base(gone.Run)
	cases := []struct {
		name   string
		labels map[string]string
		reason string
		gone   bool
	}{
		{"ironcurtain-" + short + "-home", ofGone, "session " + ShortID(filepath.Base(gone.Dir)) + " is gone", true},
		{"ironcurtain-" + filepath.Base(kept.Run) + "-home", labelsOf(t, kept), "session " + ShortID(filepath.Base(kept.Dir)) + " is kept", false},
		{"ironcurtain-" + filepath.Base(elsewhere.Run) + "-home", labelsOf(t, elsewhere), "the volume belongs to another state directory", false},
		{"ironcurtain-" + short + "-foreign", foreign, `the volume belongs to the machine "another\x1b[31m-machine"`, false},
		{"ironcurtain-" + short + "-unowned", unowned, "the volume belongs to another state directory", false},
		{used.Volume, used.Labels, "the volume was last used on " + time.Now().Format(time.DateOnly), false},
		{theirs.Volume, theirs.Labels, "the volume belongs to another state directory", false},
	}
	for _, v := range cases {
		makeVolume(t, c, v.name, v.labels)
	}
	if _, known, err := VolumesSize(t.Context(), home, c); err != nil || !known {
		t.Errorf("the size of the volumes: known %v, %v", known, err)
	}
	if size, known, err := VolumesSize(t.Context(), "/nonesuch/either", c); err != nil || known || size != 0 {
		t.Errorf("the size of no volumes: %d, known %v, %v", size, known, err)
	}
	for _, l := range []Layout{gone, elsewhere} {
		if err := os.RemoveAll(l.Dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, remove := range []bool{false, true} {
		swept, err := SweepVolumes(t.Context(), home, c, VolumeSweep{Remove: remove})
		if err != nil {
			t.Fatal(err)
		}
		reasons := map[string]SweptVolume{}
		for _, s := range swept {
			reasons[s.Name] = s
		}
		for _, want := range cases {
			t.Run(fmt.Sprint(remove, want.name), func(t *testing.T) {
				if got := reasons[want.name]; got.Reason != want.reason || got.Removed != want.gone {
					t.Errorf("%q, removed %v", got.Reason, got.Removed)
				}
				if there := len(volumesOf(t, c, want.name)) > 0; there == (remove && want.gone) {
					t.Errorf("it is there: %v", there)
				}
			})
		}
	}
	if reason, gone := judgeVolume(docker.Volume{Name: unused.Volume, Labels: unused.Labels, CreatedAt: ago}, home, ofGone[docker.LabelHost], false); !gone {
		t.Errorf("not used for long: %s", reason)
	}
	if reason, gone := judgeVolume(docker.Volume{Name: unused.Volume, Labels: unused.Labels}, home, ofGone[docker.LabelHost], false); gone {
		t.Errorf("used at a time that is not known: %s", reason)
	}
}

func objectsOf(t *testing.T, home, repository string) Objects {
	t.Helper()
	o, err := ObjectsOf(home, "unix:///engine", repository)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// The volume of a repository's objects is kept from its last use on, and goes with what is known of it.
func TestObjectsAreKeptWhileTheyAreUsed(t *testing.T) {
	c, home := engineOf(t), shortTemp(t)
	o := objectsOf(t, home, "/repository")
	for _, other := range []Objects{objectsOf(t, home, "/other"), objectsOf(t, home+"x", "/repository")} {
		if other.Volume == o.Volume || other.State == o.State {
			t.Errorf("%s is of two", o.Volume)
		}
	}
	if err := o.Use(); err != nil {
		t.Errorf("used before it is known: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(o.State), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(o.State, []byte("known"), 0o600); err != nil {
		t.Fatal(err)
	}
	ago := time.Now().Add(-2 * objectsKept)
	if err := os.Chtimes(o.State, ago, ago); err != nil {
		t.Fatal(err)
	}
	old := docker.Volume{Name: o.Volume, Labels: o.Labels, CreatedAt: ago}
	if _, gone := judgeObjects(old, home, false); !gone {
		t.Error("it is kept although nobody uses it")
	}
	if err := o.Use(); err != nil {
		t.Fatal(err)
	}
	if reason, gone := judgeObjects(old, home, false); gone {
		t.Errorf("it goes although it is used: %s", reason)
	}
	makeVolume(t, c, o.Volume, o.Labels)
	if _, err := SweepVolumes(t.Context(), home, c, VolumeSweep{Remove: true, Objects: true}); err != nil {
		t.Fatal(err)
	}
	if len(volumesOf(t, c, o.Volume)) > 0 || there(o.State) {
		t.Error("the volume or what is known of it is still there")
	}
}

// Removing a session removes its volumes, and says so when their engine is out of reach.
func TestRemoveTakesTheVolumes(t *testing.T) {
	c, home := engineOf(t), shortTemp(t)
	here := func(context.Context) (*docker.Client, error) { return c, nil }
	session, other := storeSession(t, home, "shell", 0), storeSession(t, home, "shell", 0)
	mine, work, others := sessionVolume(t, c, session, "home"), sessionVolume(t, c, session, "workspace"), sessionVolume(t, c, other, "home")
	if err := Remove(t.Context(), home, filepath.Base(session.Dir), false, here); err != nil {
		t.Fatal(err)
	}
	if left := volumesOf(t, c, mine, work, others); len(left) != 1 || left[0] != others {
		t.Errorf("left are %q", left)
	}
	away := errors.New("the engine is away")
	for name, engine := range map[string]func(context.Context) (*docker.Client, error){
		"away":           func(context.Context) (*docker.Client, error) { return nil, away },
		"another engine": here,
	} {
		t.Run(name, func(t *testing.T) {
			l := storeSession(t, home, "shell", 0)
			volume := sessionVolume(t, c, l, "home")
			address := c.Endpoint().Address
			if name != "away" {
				address = "tcp://elsewhere:1"
				if err := errors.Join(l.volumes().remove(c.Endpoint().Address), l.NoteVolumes(address)); err != nil {
					t.Fatal(err)
				}
			}
			err := Remove(t.Context(), home, filepath.Base(l.Dir), false, engine)
			if err == nil || !strings.Contains(err.Error(), "is removed, but not its volumes") || !strings.Contains(fault.Hint(err), "gc --engine "+address) {
				t.Errorf("got %v (%s)", err, fault.Hint(err))
			}
			if there(l.Dir) || len(volumesOf(t, c, volume)) != 1 {
				t.Error("the session is there, or its volume is not")
			}
		})
	}
}

// A session that is retired asks for no engine; the next sweep removes its volumes.
func TestRetireLeavesVolumesToTheSweep(t *testing.T) {
	c, home := engineOf(t), shortTemp(t)
	l := storeSession(t, home, "shell", 48*time.Hour)
	volume := sessionVolume(t, c, l, "home")
	if removed, err := Retire(t.Context(), home, 24*time.Hour); err != nil || len(removed) != 1 {
		t.Fatalf("removed %q, %v", removed, err)
	}
	if len(volumesOf(t, c, volume)) != 1 {
		t.Error("the volume is gone already")
	}
	if _, err := SweepVolumes(t.Context(), home, c, VolumeSweep{Remove: true}); err != nil {
		t.Fatal(err)
	}
	if len(volumesOf(t, c, volume)) != 0 {
		t.Error("the volume is still there")
	}
}

// A session's files can be away on two engines. What has come from one has not come from the other.
func TestAwayOnTwoEngines(t *testing.T) {
	l := storeSession(t, shortTemp(t), "shell", 0)
	if err := errors.Join(l.NoteAway("unix:///a"), l.NoteAway("ssh://b"), l.NoteAway("unix:///a"), l.NoteReturned("unix:///a"), l.NoteReturned("unix:///c")); err != nil {
		t.Fatal(err)
	}
	if !l.HasAway() {
		t.Error("what is on the second engine is forgotten")
	}
	if err := l.NoteReturned("ssh://b"); err != nil || l.HasAway() {
		t.Errorf("what has come is still away: %v", err)
	}
}

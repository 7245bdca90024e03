package elsewhere

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/treesync"
)

// container is where the trees of a session are on one engine.
type container map[string]string

func newContainer(t *testing.T) container {
	t.Helper()
	c := container{}
	for _, tree := range []string{home, workspace, orientation, attachments} {
		c[tree] = t.TempDir()
	}
	return c
}

// life lets a session live in a container: its files are brought there, the agent works, and they come
// back. Nothing is told.
func (c container) life(t *testing.T, engine string, here container, notes string, agent func(workspace string)) {
	t.Helper()
	c.tell(t, engine, here, notes, func(text string) { t.Error(text) }, func(workspace string, _ *Files) { agent(workspace) })
}

// tell is life where things are told.
func (c container) tell(t *testing.T, engine string, here container, notes string, tell func(string), agent func(workspace string, files *Files)) {
	t.Helper()
	server := treesync.NewServer(c)
	var serving sync.WaitGroup
	defer serving.Wait()
	files, err := Open(Options{
		Dirs: Dirs{
			Home: here[home], Workspace: here[workspace], Orientation: here[orientation], Attachments: here[attachments],
			Notes: notes, Engine: engine,
		},
		Connect: func(ctx context.Context) (net.Conn, error) {
			ours, theirs := net.Pipe()
			serving.Go(func() { _ = server.Serve(context.WithoutCancel(ctx), theirs) })
			return ours, nil
		},
		Tell: tell,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	if rate, err := files.Fill(t.Context()); err != nil || rate != 0 {
		t.Fatalf("filled with %d bytes a second, %v", rate, err) // a few files tell nothing
	}
	agent(c[workspace], files)
	if err := files.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// The volumes that an engine kept while the session lived on another one are older than what is
// here.
func TestOldVolumesAreNotTakenForNewWork(t *testing.T) {
	here, one, other, notes := newContainer(t), newContainer(t), newContainer(t), t.TempDir()
	write := func(text string) func(string) {
		return func(workspace string) {
			if err := os.WriteFile(filepath.Join(workspace, "file"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	one.life(t, "one", here, notes, write("first"))
	if err := Forget(notes, "other"); err != nil { // its volumes are new
		t.Fatal(err)
	}
	other.life(t, "other", here, notes, write("second"))
	one.life(t, "one", here, notes, func(workspace string) {
		if got, err := os.ReadFile(filepath.Join(workspace, "file")); err != nil || string(got) != "second" {
			t.Errorf("the agent has %q, %v", got, err)
		}
	})
	if got, err := os.ReadFile(filepath.Join(here[workspace], "file")); err != nil || string(got) != "second" {
		t.Errorf("here is %q, %v", got, err)
	}
}

// A session tells once of each kind of what cannot travel, however often it looks and whatever is added.
func TestWhatCannotTravelIsToldOnce(t *testing.T) {
	var told []string
	here, there := newContainer(t), newContainer(t)
	there.tell(t, "one", here, t.TempDir(), func(text string) { told = append(told, text) }, func(workspace string, files *Files) {
		for _, name := range []string{"a", "b", "c"} {
			path := filepath.Join(workspace, name)
			if err := errors.Join(syscall.Mkfifo(path, 0o600), os.WriteFile(path+".sh", nil, 0o600), os.Chmod(path+".sh", 0o700|fs.ModeSetuid)); err != nil {
				t.Fatal(err)
			}
			if err := files.Fetch(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
	want := []string{
		"devices, pipes and sockets below /workspace are in the container only, where tools do not see them: 1 at present",
		"set-uid, set-gid and sticky bits below /workspace do not come to this machine, nor do files with names that are too long or no UTF-8: 1 at present",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
}

func TestTheNoteSaysWhatDoesNotArrive(t *testing.T) {
	r := treesync.Report{Left: []treesync.Left{{Path: "log", Why: "it is large"}, {Path: "pipe", Why: "it is odd", Hides: true}}}
	if got := conflicts(r); !strings.Contains(got, "see at pipe") || strings.Contains(got, "log") {
		t.Errorf("%q", got)
	}
}

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

// trees has the directories of a session's trees, of a container or of the host.
type trees map[string]string

func newTrees(t *testing.T) trees {
	t.Helper()
	c := trees{}
	for _, tree := range []string{home, workspace, orientation, attachments} {
		c[tree] = t.TempDir()
	}
	return c
}

// quietRun is run for a session of which the person is told nothing.
func (c trees) quietRun(t *testing.T, engine string, host trees, notes string, agent func(workspace string)) {
	t.Helper()
	c.run(t, engine, host, notes, func(text string) { t.Error(text) }, func(workspace string, _ *Files) { agent(workspace) })
}

// run runs a session in a container: it copies the files there, calls agent, and brings them back.
func (c trees) run(t *testing.T, engine string, host trees, notes string, tell func(string), agent func(workspace string, files *Files)) {
	t.Helper()
	server := treesync.NewServer(c)
	var serving sync.WaitGroup
	defer serving.Wait()
	files, err := Open(Options{
		Dirs: Dirs{
			Home: host[home], Workspace: host[workspace], Orientation: host[orientation], Attachments: host[attachments],
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

// Volumes that an engine kept while the session ran on another one are older than the host's files.
func TestOldVolumesAreNotTakenForNewWork(t *testing.T) {
	host, one, other, notes := newTrees(t), newTrees(t), newTrees(t), t.TempDir()
	write := func(text string) func(string) {
		return func(workspace string) {
			if err := os.WriteFile(filepath.Join(workspace, "file"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	one.quietRun(t, "one", host, notes, write("first"))
	if err := Forget(notes, "other"); err != nil { // its volumes are new
		t.Fatal(err)
	}
	other.quietRun(t, "other", host, notes, write("second"))
	one.quietRun(t, "one", host, notes, func(workspace string) {
		if got, err := os.ReadFile(filepath.Join(workspace, "file")); err != nil || string(got) != "second" {
			t.Errorf("the agent has %q, %v", got, err)
		}
	})
	if got, err := os.ReadFile(filepath.Join(host[workspace], "file")); err != nil || string(got) != "second" {
		t.Errorf("here is %q, %v", got, err)
	}
}

// A person is told once of each kind of file that cannot be copied, however many there are.
func TestWhatCannotTravelIsToldOnce(t *testing.T) {
	var told []string
	host, container := newTrees(t), newTrees(t)
	container.run(t, "one", host, t.TempDir(), func(text string) { told = append(told, text) }, func(workspace string, files *Files) {
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
		"set-uid, set-gid and sticky bits below /workspace are not copied to this machine, nor are files whose names are too long or not UTF-8: 1 at present",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
}

func TestTheNoteSaysWhatDoesNotArrive(t *testing.T) {
	r := treesync.Report{Left: []treesync.Left{{Path: "log", Why: "it is large"}, {Path: "pipe", Why: "it is odd", Hides: true}}}
	if got := conflicts(r); !strings.Contains(got, "at pipe") || strings.Contains(got, "log") {
		t.Errorf("%q", got)
	}
}

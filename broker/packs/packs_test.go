package packs_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sh runs shell commands in a directory, as a person or an agent would.
func sh(t *testing.T, dir, script string) string {
	t.Helper()
	return strings.TrimSpace(string(feed(t, dir, nil, script)))
}

func feed(t *testing.T, dir string, in []byte, script string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", script)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
	cmd.Env = append(os.Environ(), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
	return out
}

// repository makes a repository with two commits and a tag, and returns its directory.
func repository(t *testing.T, options string) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "project")
	sh(t, base, "git init -q -b main "+options+" project")
	sh(t, dir, "mkdir sub; echo one >a; echo b >sub/b; git add .; git commit -qm one; git tag -a -m v1 v1; echo two >>a; git commit -qam two")
	return dir
}

// history adds commits to main, each with new content of one of so many files, in 20
// directories: size incompressible bytes.
func history(t *testing.T, dir string, commits, files, size int) {
	t.Helper()
	random := rand.NewChaCha8([32]byte{1})
	var stream bytes.Buffer
	data := make([]byte, size)
	for i := range commits {
		_, _ = random.Read(data)
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata <<E\nnumber %d\nE\n", 1_900_000_000+i*60, i)
		if i == 0 {
			fmt.Fprintf(&stream, "from refs/heads/main^0\n")
		}
		fmt.Fprintf(&stream, "M 100644 inline d%d/f%d\ndata %d\n", i%files%20, i%files/20, size)
		stream.Write(data)
		stream.WriteByte('\n')
	}
	feed(t, dir, stream.Bytes(), "git fast-import --quiet; git reset -q --hard main")
}

// volume is a directory in place of an engine's volume.
type volume struct {
	dir  string
	puts []string
	fail int // the number of the Put that fails after half of the file, from 1; 0: none
}

var errCut = errors.New("the line was cut")

func (v *volume) List(context.Context) (map[string]int64, error) {
	files := map[string]int64{}
	err := filepath.WalkDir(v.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(v.dir, path)
		files[name] = info.Size()
		return err
	})
	return files, err
}

func (v *volume) Put(_ context.Context, name string, r io.Reader, size int64, sum [sha256.Size]byte) error {
	if v.puts = append(v.puts, name); len(v.puts) == v.fail {
		_, err := io.CopyN(io.Discard, r, size/2)
		return errors.Join(err, errCut)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if int64(len(data)) != size || sha256.Sum256(data) != sum {
		return fmt.Errorf("%s has %d bytes, not %d, or another digest", name, len(data), size)
	}
	path := filepath.Join(v.dir, name)
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.RemoveAll(path), os.WriteFile(path, data, 0o444))
}

// engine is a volume with its state.
type engine struct {
	*volume
	t    *testing.T
	plan packs.Plan // without tips
	work string
	git  string // the git directory
}

func newEngine(t *testing.T, gitDir string) *engine {
	t.Helper()
	dir := t.TempDir()
	e := &engine{volume: &volume{dir: filepath.Join(dir, "volume")}, t: t, work: filepath.Join(dir, "work"), git: gitDir}
	e.plan = packs.Plan{Repository: gitDir, State: filepath.Join(dir, "state/engine.json")}
	for _, d := range []string{e.volume.dir, e.work} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// fill fills the volume for revisions: one that is needed, and optional ones.
func (e *engine) fill(needed string, more ...string) (packs.Result, error) {
	e.t.Helper()
	e.plan.Tips, e.plan.More = []string{e.id(needed)}, nil
	for _, one := range more {
		e.plan.More = append(e.plan.More, e.id(one))
	}
	return fillPlan(e)
}

func (e *engine) filled(needed string, more ...string) packs.Result {
	e.t.Helper()
	r, err := e.fill(needed, more...)
	if err != nil {
		e.t.Fatal(err)
	}
	return r
}

func (e *engine) id(revision string) string {
	e.t.Helper()
	return sh(e.t, e.git, "git --git-dir . rev-parse "+revision)
}

// has reports whether the volume has an object.
func (e *engine) has(id string) bool {
	e.t.Helper()
	if len(id) != 40 {
		e.t.Fatalf("%q is no object", id)
	}
	empty := e.t.TempDir()
	sh(e.t, empty, "git init -q --bare .; mkdir -p objects/info; echo '"+e.dir+"' >objects/info/alternates")
	return exec.CommandContext(e.t.Context(), "git", "--git-dir", empty, "cat-file", "-e", id).Run() == nil
}

// fillPlan fills the volume with the plan unchanged.
func fillPlan(e *engine) (packs.Result, error) {
	e.t.Helper()
	return e.fillWith(e.t.Context())
}

func (e *engine) fillWith(ctx context.Context) (packs.Result, error) {
	e.t.Helper()
	r, err := packs.Fill(ctx, e.plan, e.volume, e.work)
	if left, _ := os.ReadDir(e.work); len(left) > 0 {
		e.t.Errorf("left in the scratch directory: %v", left)
	}
	return r, err
}

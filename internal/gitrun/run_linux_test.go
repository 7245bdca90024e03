package gitrun

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/alone"
)

// helperOf names, for a run of this test program, the repository in which it runs git
// on its own input.
const helperOf = "GITRUN_HELPER_OF"

// helperOfGroup makes a run of this test program run git with a program that git starts.
const helperOfGroup = "GITRUN_HELPER_OF_GROUP"

// lasting is a program that git starts and that lasts. Its descriptor 3 shows whether it does.
var lasting = []string{"-c", "alias.last=!echo up >&3; sleep 1000; true", "last"}

func TestMain(m *testing.M) {
	if os.Getenv(helperOfGroup) != "" {
		_ = Distant(1<<20, time.Minute, 1).Run(context.Background(), Command{Args: lasting, File: os.NewFile(3, "up")})
		os.Exit(1)
	}
	if repository := os.Getenv(helperOf); repository != "" {
		err := Thorough.Run(context.Background(), Command{
			Args: []string{"hash-object", "--stdin"}, Env: []string{"GIT_DIR=" + repository}, In: os.Stdin,
		})
		fmt.Fprintln(os.Stderr, "git has ended:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// repository is an empty one, in which commands run without bounds.
func repository(t *testing.T) (dir string, git func(in string, args ...string) string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "repository")
	git = func(in string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"--git-dir", dir}, args...)...)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	git("", "init", "-q", "--bare")
	return dir, git
}

// A few hundred bytes of trees that stand for a billion files do not fit into what git
// gets, nor into what it may say.
func TestTreeBomb(t *testing.T) {
	if !alone.Run(t) {
		return
	}
	dir, git := repository(t)
	blob := git("x", "hash-object", "-w", "--stdin")
	var files strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&files, "100644 blob %s\t%d\n", blob, i)
	}
	tree := git(files.String(), "mktree")
	for range 6 {
		var entries strings.Builder
		for i := range 10 {
			fmt.Fprintf(&entries, "040000 tree %s\t%d\n", tree, i)
		}
		tree = git(entries.String(), "mktree")
	}
	env := []string{"GIT_DIR=" + dir}
	var limit *Limit
	if err := Thorough.Run(t.Context(), Command{Args: []string{"read-tree", tree}, Env: env}); !errors.As(err, &limit) {
		t.Errorf("read: %v", err)
	}
	if out, err := Quick.Output(t.Context(), 1<<20, Command{Args: []string{"ls-tree", "-r", tree}, Env: env}); !errors.As(err, &limit) || len(out) > 1<<20 {
		t.Errorf("list: %v, %d bytes", err, len(out))
	}
	if left, _ := filepath.Glob(dir + "/*.lock"); len(left) > 0 {
		t.Errorf("left locked: %q", left)
	}
	notLarge(t)
}

// Trees inside each other use up git's stack: that, too, is more than it gets.
func TestDeepTrees(t *testing.T) {
	dir, _ := repository(t)
	var limit *Limit
	err := Thorough.Run(t.Context(), Command{Args: []string{"read-tree", deepTree(t, dir)}, Env: []string{"GIT_DIR=" + dir}})
	if !errors.As(err, &limit) {
		t.Errorf("got %v", err)
	}
}

// deepTree puts 5000 trees, each in the next, into a repository.
func deepTree(t *testing.T, dir string) string {
	t.Helper()
	id := sha1.Sum([]byte("tree 0\x00"))
	z := zlib.NewWriter(nil)
	for range 5000 {
		tree := append([]byte("40000 d\x00"), id[:]...)
		object := append(fmt.Appendf(nil, "tree %d\x00", len(tree)), tree...)
		id = sha1.Sum(object)
		name := hex.EncodeToString(id[:])
		var packed bytes.Buffer
		z.Reset(&packed)
		_, err := z.Write(object)
		place := filepath.Join(dir, "objects", name[:2])
		if err = errors.Join(err, z.Close(), os.MkdirAll(place, 0o700)); err == nil {
			err = os.WriteFile(filepath.Join(place, name[2:]), packed.Bytes(), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return hex.EncodeToString(id[:])
}

// notLarge fails when a process that this one has waited for was larger than 300 MB.
func notLarge(t *testing.T) {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &used); err != nil || used.Maxrss > 300<<10 {
		t.Errorf("a process took %d kB, %v", used.Maxrss, err)
	}
}

// Files of zeros, as small as they are in a repository, are neither compared nor kept
// in memory.
func TestZeros(t *testing.T) {
	if !alone.Run(t) {
		return
	}
	dir, git := repository(t)
	var entries strings.Builder
	for i := range 4 {
		blob := zeros(t, dir, byte('a'+i))
		fmt.Fprintf(&entries, "100644 blob %s\t%d\n", blob, i)
	}
	tree := git(entries.String(), "mktree")
	if err := Thorough.Run(t.Context(), Command{
		Args: []string{"pack-objects", "--revs", "--stdout", "--quiet"}, Env: []string{"GIT_DIR=" + dir},
		In: strings.NewReader(tree + "\n"), Out: io.Discard,
	}); err != nil {
		t.Error(err)
	}
	notLarge(t)
}

// zeros puts a blob of one byte and then 64 MB of zeros into a repository.
func zeros(t *testing.T, dir string, first byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "zeros")
	if err := os.WriteFile(file, []byte{first}, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 64<<20); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "git", "--git-dir", dir, "-c", "core.bigFileThreshold=1m", "hash-object", "-w", "--no-filters", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// When this process is killed, git ends, though it has all it needs to go on.
func TestGitEndsWithItsParent(t *testing.T) {
	dir, _ := repository(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	helper := exec.CommandContext(t.Context(), os.Args[0])
	helper.Env = append(os.Environ(), helperOf+"="+dir)
	var said bytes.Buffer
	helper.Stdin, helper.Stderr = r, &said
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	if err := w.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 1<<20)); err != nil { // more than the pipe holds: git reads
		t.Fatal(err, said.String())
	}
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = helper.Wait() // it was killed
	for err == nil {
		_, err = w.Write([]byte{0}) // once the pipe is full this waits for a reader
	}
	if !errors.Is(err, syscall.EPIPE) {
		t.Errorf("git still reads: %v", err)
	}
}

// What git starts ends with git, whether this process is killed or no longer wants it.
func TestTheGroupEnds(t *testing.T) {
	begin := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		if err := r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		return r, w
	}
	up := func(r *os.File) {
		if _, err := io.ReadFull(r, make([]byte, len("up\n"))); err != nil {
			t.Fatal(err)
		}
	}
	over := func(r *os.File) {
		if _, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("something is still there: %v", err)
		}
	}
	r, w := begin()
	helper := exec.CommandContext(t.Context(), os.Args[0])
	helper.Env, helper.ExtraFiles = append(os.Environ(), helperOfGroup+"=yes"), []*os.File{w}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	up(r)
	if err := helper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = helper.Wait() // it was killed
	over(r)

	r, w = begin()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1) // one value
	go func() {
		ended <- Distant(1<<20, time.Minute, 1).Run(ctx, Command{Args: lasting, File: w})
		_ = w.Close()
	}()
	up(r)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	over(r)
}

// Whoever waits for a turn, or for git, need not wait any longer than they want to.
func TestContextIsObeyed(t *testing.T) {
	dir, _ := repository(t)
	never, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer never.Close()
	defer w.Close()
	reading := Command{Args: []string{"hash-object", "--stdin"}, Env: []string{"GIT_DIR=" + dir}, In: never}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	both := make(chan error, 2) // one value of each run
	for range 2 {
		go func() { both <- Thorough.Run(ctx, reading) }()
	}
	if _, err := w.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	cancel(enough)
	for range 2 {
		if err := <-both; !errors.Is(err, enough) {
			t.Errorf("got %v", err)
		}
	}
	short := &Class{memory: 16 << 20, time: 100 * time.Millisecond, turn: make(chan struct{}, 1)}
	var limit *Limit
	if err := short.Run(t.Context(), reading); !errors.As(err, &limit) {
		t.Errorf("got %v", err)
	}
}

// A refusal is told in git's words, after the name of the command.
func TestFailure(t *testing.T) {
	dir, _ := repository(t)
	err := Thorough.Run(t.Context(), Command{Args: []string{"-c", "a.b=c", "read-tree", "nothing"}, Env: []string{"GIT_DIR=" + dir}})
	if err == nil || !strings.HasPrefix(err.Error(), `git read-tree: "fatal:`) {
		t.Errorf("got %v", err)
	}
}

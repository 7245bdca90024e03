package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

func record(n int) Record {
	return Record{
		Plane: PlaneTool, Decision: Allow, Session: "s1", Server: "filesystem", Tool: "read_file",
		Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d,"path":"/sandbox/a"}`, n)), Rule: "structural-sandbox-allow",
	}
}

func open(t *testing.T, path string, o Options) *Log {
	t.Helper()
	l, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func fill(t *testing.T, l *Log, n int) {
	t.Helper()
	for i := range n {
		if err := l.Append(context.Background(), record(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// closedLog is a log of n records on disk.
func closedLog(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path, Options{NoSync: true})
	fill(t, l, n)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVerifyAcceptsAWholeLog(t *testing.T) {
	path := closedLog(t, 20)
	r, err := Verify(path)
	if err != nil || !r.Whole || !r.Closed || r.Records != 21 {
		t.Fatalf("report %+v, error %v", r, err)
	}
	// A closed log proves its end by itself.
	if err := os.Remove(headName(path)); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(path); err != nil {
		t.Fatal(err)
	}
	l := open(t, path, Options{})
	fill(t, l, 3)
	if r, err := Verify(path); err != nil || r.Closed {
		t.Fatalf("while it is open: %+v, %v", r, err)
	}
}

// A record names the client; one of an older log, which does not, is read all the same.
func TestARecordNamesItsClient(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path, Options{NoSync: true})
	with := record(0)
	with.DecidedBy, with.Client = "cli", identity.Client{ID: "1", Name: "a \"box\"\n", Terminal: "/dev/pts/3"}
	for _, r := range []Record{with, record(1)} {
		if err := l.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Verify(path); err != nil {
		t.Error(err)
	}
	lines, err := Last(path, 2, func(Line) bool { return true })
	if err != nil || len(lines) != 2 || lines[0].Client != with.Client || lines[1].Client != (identity.Client{}) || bytes.Contains(lines[1].Raw, []byte("client")) {
		t.Errorf("%+v, %v", lines, err)
	}
}

func TestVerifyFindsEveryChangedByte(t *testing.T) {
	path := closedLog(t, 4)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, head := range []bool{true, false} {
		if !head {
			if err := os.Remove(headName(path)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range whole {
			data := bytes.Clone(whole)
			data[i] ^= 1
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Verify(path); !errors.Is(err, ErrBroken) {
				t.Fatalf("byte %d (%q), head file %v: %v", i, whole[i], head, err)
			}
		}
	}
}

func TestVerifyFindsMissingAndMovedLines(t *testing.T) {
	path := closedLog(t, 6)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(whole), "\n"), "\n")
	lines[len(lines)-1] += "\n"
	join := func(parts ...[]string) string {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(strings.Join(p, ""))
		}
		return b.String()
	}
	cases := map[string]string{
		"first line missing":    join(lines[1:]),
		"middle line missing":   join(lines[:2], lines[3:]),
		"last line missing":     join(lines[:len(lines)-1]),
		"last lines missing":    join(lines[:3]),
		"lines swapped":         join(lines[:2], lines[3:4], lines[2:3], lines[4:]),
		"line twice":            join(lines[:3], lines[2:]),
		"torn tail":             string(whole[:len(whole)-7]),
		"newline missing":       string(whole[:len(whole)-1]),
		"foreign line at end":   string(whole) + "{}\n",
		"emptied":               "",
		"another log's records": strings.ReplaceAll(string(whole), "read_file", "write_file"),
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			other := filepath.Join(t.TempDir(), "copy.jsonl") // without head file
			for _, p := range []string{path, other} {
				if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if r, err := Verify(p); !errors.Is(err, ErrBroken) || r.Whole {
					t.Errorf("%s: report %+v, error %v", p, r, err)
				}
			}
		})
	}
}

func TestArgumentsCannotForgeAClosingLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path, Options{NoSync: true})
	r := record(1)
	r.Arguments = json.RawMessage(`{"plane":"audit","decision":"closed","records":1,"check":"x"}`)
	if err := l.Append(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(path); err != nil || r.Closed {
		t.Fatalf("%+v, %v", r, err)
	}
}

func TestFailedWritesLeaveTheLogAsItWas(t *testing.T) {
	for _, keep := range []int{0, 1, 60, 100_000} {
		for _, op := range []string{"write", "sync"} {
			for _, cause := range []error{errFull, errIO} {
				t.Run(fmt.Sprintf("%s-%d-%v", op, keep, errors.Is(cause, syscall.ENOSPC)), func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "audit.jsonl")
					fault := &faulty{}
					states := make(chan error, 4) // must-deliver in this test
					l := open(t, path, Options{FS: fault, State: func(err error) { states <- err }})
					fill(t, l, 2)
					fault.set(failing(op, keep, cause))
					for range 3 {
						if err := l.Append(context.Background(), record(9)); err == nil {
							t.Fatal("a record that is not on the disk was accepted")
						}
					}
					if err := <-states; err == nil {
						t.Fatal("nobody was told")
					}
					if r, err := Verify(path); err != nil || r.Records != 2 {
						t.Fatalf("in between: %+v, %v", r, err)
					}
					fault.set(nil)
					fill(t, l, 2)
					if err := <-states; err != nil {
						t.Fatal(err)
					}
					if r, err := Verify(path); err != nil || r.Records != 4 {
						t.Fatalf("afterwards: %+v, %v", r, err)
					}
				})
			}
		}
	}
}

func TestShortWriteWithoutError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	fault := &faulty{}
	l := open(t, path, Options{FS: fault})
	fill(t, l, 1)
	// The tail cannot even be cut off at once.
	fault.set(func(op string, size int) (int, error) {
		if op == "truncate" {
			return 0, syscall.EROFS
		}
		return size / 2, nil
	})
	if err := l.Append(context.Background(), record(1)); err == nil {
		t.Fatal("half a record was accepted")
	}
	fault.set(nil)
	fill(t, l, 1)
	if r, err := Verify(path); err != nil || r.Records != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
}

func TestFileTakenAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path, Options{})
	fill(t, l, 2)
	refused := func(what string) {
		t.Helper()
		if err := l.Append(context.Background(), record(0)); err == nil {
			t.Fatalf("%s: the record was accepted", what)
		}
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	refused("deleted")
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatal("the file was made anew in silence")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("replaced")
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	fill(t, l, 1)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("{}\n"); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	refused("appended to by somebody else")
}

func TestSlowDiskIsARefusalInTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	fault := &faulty{}
	l := open(t, path, Options{FS: fault, Deadline: 30 * time.Millisecond})
	release := make(chan struct{})
	fault.set(func(_ string, size int) (int, error) { <-release; return size, nil })
	began := time.Now()
	for range 3 {
		if err := l.Append(context.Background(), record(0)); err == nil {
			t.Fatal("a record that is not on the disk was accepted")
		}
	}
	if took := time.Since(began); took > time.Minute {
		t.Fatalf("refusing took %v", took)
	}
	close(release)
	fault.set(nil)
	// Even a disk that works may be too slow for this limit, now and then.
	for err := l.late(); err != nil; err = l.Append(context.Background(), record(0)) {
		if time.Since(began) > time.Minute {
			t.Fatal(err)
		}
	}
	if _, err := Verify(path); err != nil {
		t.Fatal(err)
	}
}

func TestPipesLinksAndSecondWritersAreRefused(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "target"), link); err != nil {
		t.Fatal(err)
	}
	used := filepath.Join(dir, "used")
	open(t, used, Options{})
	for _, path := range []string{pipe, link, used, dir, "/dev/full"} {
		if l, err := Open(path, Options{}); err == nil {
			t.Errorf("%s was opened", path)
			_ = l.Close()
		}
	}
}

func TestTornTailIsMovedAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path, Options{})
	fill(t, l, 3)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"seq":5,"prev":"ab`); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	l = open(t, path, Options{})
	fill(t, l, 1)
	if r, err := Verify(path); err != nil || r.Records != 6 { // 3, closing, recovered, 1
		t.Fatalf("%+v, %v", r, err)
	}
	torn, err := filepath.Glob(path + ".torn-*")
	if err != nil || len(torn) != 1 {
		t.Fatalf("torn parts: %v, %v", torn, err)
	}
}

func TestACutLogIsNotContinued(t *testing.T) {
	path := closedLog(t, 5)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
	if err := os.WriteFile(path, data[:cut], 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(path, Options{})
	if err == nil {
		_ = l.Close()
		t.Fatal("a log without its end was continued")
	}
	if fault.Hint(err) == "" {
		t.Fatalf("error %v has no hint", err)
	}
}

func TestManyWritersShareOneChain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path, Options{})
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for i := range 50 {
				if err := l.Append(context.Background(), record(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if r, err := Verify(path); err != nil || r.Records != 800 {
		t.Fatalf("%+v, %v", r, err)
	}
	n := 0
	if err := Read(path, func(Line) error { n++; return nil }); err != nil || n != 800 {
		t.Fatalf("read %d lines, %v", n, err)
	}
}

func TestAppendAfterClose(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "audit.jsonl"), Options{})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Append(context.Background(), record(0)); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte("{\"seq\":1,\"prev\":\"" + genesis + "\",\"time\":\"x\"}\n"))
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"seq":`))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := Verify(path); err == nil && !r.Whole {
			t.Fatalf("no error for %+v", r)
		}
		_ = Read(path, func(Line) error { return nil })
	})
}

func benchmarkAppend(b *testing.B, callers int, o Options) {
	b.Helper()
	l, err := Open(filepath.Join(b.TempDir(), "audit.jsonl"), o)
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	b.ResetTimer()
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for range b.N / callers {
				if err := l.Append(context.Background(), record(1)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

func BenchmarkAppend1(b *testing.B)          { benchmarkAppend(b, 1, Options{}) }
func BenchmarkAppend16(b *testing.B)         { benchmarkAppend(b, 16, Options{}) }
func BenchmarkAppend16Unsynced(b *testing.B) { benchmarkAppend(b, 16, Options{NoSync: true}) }

// A record that nobody waits for keeps its place, and reaches the file though
// nothing follows it.
func TestPostedRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, path, Options{})
	for i := range 10 {
		if err := l.Post(context.Background(), record(2*i)); err != nil {
			t.Fatal(err)
		}
		if err := l.Append(context.Background(), record(2*i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Post(context.Background(), record(20)); err != nil {
		t.Fatal(err)
	}
	read := func() (lines []Line) {
		if err := Read(path, func(l Line) error { lines = append(lines, l); return nil }); err != nil {
			t.Fatal(err)
		}
		return lines
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); len(read()) < 21; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("%d lines", len(read()))
		}
	}
	for i, line := range read() {
		if want := fmt.Sprintf(`{"n":%d,`, i); !strings.HasPrefix(string(line.Arguments), want) {
			t.Errorf("line %d: %s", i, line.Arguments)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Post(context.Background(), record(21)); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// A log that nothing was written to is closed in order like any other, and can be gone on
// with.
func TestAnUnusedLogIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for n := range uint64(2) {
		l, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := Verify(path); err != nil || r.Closed != (n > 0) || r.Records != n {
			t.Errorf("while it is open: %+v, %v", r, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if r, err := Verify(path); err != nil || !r.Closed || r.Records != n+1 || r.Unfinished != 0 {
			t.Errorf("after its end: %+v, %v", r, err)
		}
	}
}

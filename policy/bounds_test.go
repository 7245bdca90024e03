package policy

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/alone"
)

// selectsSlowly is selects, but tries every possible end of every bracket separately.
func selectsSlowly(pattern, name string, beginning bool) bool {
	switch {
	case name == "" && beginning:
		return pattern != ""
	case pattern == "":
		return name == ""
	case pattern[0] == '*':
		return selectsSlowly(pattern[1:], name, beginning) || name != "" && selectsSlowly(pattern, name[1:], beginning)
	case name == "":
		return false
	}
	if (pattern[0] == '?' || pattern[0] == name[0]) && selectsSlowly(pattern[1:], name[1:], beginning) {
		return true
	}
	for end := 2; pattern[0] == '[' && end < len(pattern); end++ {
		if pattern[end] == ']' && selectsSlowly(pattern[end+1:], name[1:], beginning) {
			return true
		}
	}
	return false
}

// Every short pattern is tried on every short name.
func TestPatternsWithBrackets(t *testing.T) {
	words := func(letters string, most int) []string {
		all, last := []string{""}, []string{""}
		for range most {
			var next []string
			for _, w := range last {
				for _, c := range letters {
					next = append(next, w+string(c))
				}
			}
			all, last = append(all, next...), next
		}
		return all
	}
	for _, pattern := range words("a[]*?", 6) {
		for _, name := range words("a[", 3) {
			if got, want := selects(pattern, name, false), selectsSlowly(pattern, name, false); got != want {
				t.Fatalf("%q selects %q: %v, want %v", pattern, name, got, want)
			}
		}
	}
}

// quickly judges a call and fails if that took more than five seconds. Without bounds it
// would take a minute; the limit leaves time for a busy machine.
func quickly(t *testing.T, e *Engine, c Call, want Decision, rule string) {
	t.Helper()
	began := time.Now()
	v := e.Evaluate(c)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("%s was judged in %v", c.Tool, took)
	}
	if v.Decision != want || rule != "" && v.Rule != rule {
		t.Errorf("%s: %s by %s (%s)", c.Tool, v.Decision, v.Rule, v.Reason)
	}
}

// deepWorld has a directory that is as deep as a path can be.
func deepWorld(t *testing.T) (e *Engine, levels int) {
	t.Helper()
	e, root := defaultEngine(t, func(c *Config) {
		c.Protected = []string{c.Sandbox + "/d/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/secret"}
	})
	base, err := filepath.EvalSymlinks(root + "/sandbox")
	if err != nil {
		t.Fatal(err)
	}
	levels = (4000 - len(base)) / 2
	if err := os.MkdirAll(base+"/"+strings.Repeat("d/", levels), 0o700); err != nil {
		t.Fatal(err)
	}
	return e, levels
}

func list(path string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%q", fmt.Sprintf(path, i))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// The names in a call are bounded before anything is looked up, and looking up what the
// bounds permit is quick.
func TestPathsThatCostMuch(t *testing.T) {
	e, levels := deepWorld(t)
	deep := strings.Repeat("d/", levels)
	read := func(paths string) Call {
		return Call{Server: "filesystem", Tool: "read_multiple_files", Arguments: []byte(`{"paths":` + paths + `}`)}
	}
	quickly(t, e, read(list(deep+"f%d", 200)), Deny, RuleInvalidArguments)
	quickly(t, e, read(list(deep+"f%d", 60)), Deny, RuleInvalidPath)
	quickly(t, e, read(list("d%d", maxElements+1)), Deny, RuleInvalidArguments)
	quickly(t, e, read(list(strings.Repeat("d/", 200)+"f%d", 500)), Allow, "")
	quickly(t, e, read(list("%d/"+strings.Repeat("objects/refs/", 19)+"HEAD", 900)), Allow, "")
	write := func(from string) Call {
		return Call{Server: "filesystem", Tool: "move_file", Arguments: fmt.Appendf(nil, `{"source":%q,"destination":"x"}`, from)}
	}
	quickly(t, e, write(strings.Repeat("objects/", 250)+"HEAD"), Allow, "")
	quickly(t, e, Call{Server: "git", Tool: "git_add", Arguments: []byte(`{"path":"/workspace/d","paths":` + list(strings.Repeat("[a]/", 240)+"*%d", 200) + `}`)}, Allow, "")
}

// A judgment ends with its context.
func TestJudgementsEnd(t *testing.T) {
	e := newWorld(t).engine()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []Call{
		{Server: "filesystem", Tool: "read_text_file", Arguments: []byte(`{"path":"a.txt"}`)},
		{Server: "git", Tool: "git_status", Arguments: []byte(`{"path":"/workspace/repo"}`)},
		{Server: "fetch", Tool: "http_fetch", Arguments: []byte(`{"url":"https://example.com/"}`)},
	} {
		if v := e.EvaluateContext(ctx, c); v.Decision != Deny || v.Rule != RuleWithdrawn || v.Arguments != nil {
			t.Errorf("%s: %s by %s", c.Tool, v.Decision, v.Rule)
		}
	}
}

// residentVariable makes the test program judge and print how much memory that took.
const residentVariable = "IRONCURTAIN_TEST_RESIDENT"

// resident is the most memory this process has had, in bytes.
func resident(t *testing.T) int64 {
	t.Helper()
	if runtime.GOOS == "linux" {
		return alone.Peak(t)
	}
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return r.Maxrss
}

// Twelve concurrent calls on a repository with an index of 255 MB take little memory. The
// test measures the peak memory of a process, so it uses a process of its own.
func TestMemoryOfJudgingAHugeIndex(t *testing.T) {
	if os.Getenv(residentVariable) == "" {
		self := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		self.Env = append(os.Environ(), residentVariable+"=1")
		if out, err := self.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	w := newWorld(t)
	const size = 255 << 20
	index := w.sandbox + "/repo/.git/index"
	head := binary.BigEndian.AppendUint32([]byte("DIRC\x00\x00\x00\x02"), (size-64)/72)
	w.must(os.WriteFile(index, head, 0o600))
	w.must(os.Truncate(index, size)) // entries without names, and nothing on the disk
	e := w.engine()
	idle := resident(t)
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			if v := e.Evaluate(Call{Server: "git", Tool: "git_log", Arguments: []byte(`{"path":"/workspace/repo"}`)}); v.Decision != Allow {
				t.Errorf("%s by %s: %s", v.Decision, v.Rule, v.Reason)
			}
		})
	}
	all.Wait()
	if took := resident(t) - idle; took > 64<<20 {
		t.Errorf("%d MB were taken", took>>20)
	}
}

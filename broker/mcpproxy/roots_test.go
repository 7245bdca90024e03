package mcpproxy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The real server, in the real sandbox, is started for the workspace alone.
func TestAnApprovedPathIsOpenForItsCallOnly(t *testing.T) {
	contained := realServers(t)
	r := newHarness(t, func(c *Config) {
		contained(c)
		c.Servers = c.Servers[:1] // the filesystem server and its three directories
		files := &c.Servers[0]
		files.Argv = files.Argv[:len(files.Argv)-2]
		files.Roots = files.Argv[len(files.Argv)-1:]
		files.Sandbox.Filesystem.AllowWrite = nil
		c.Widen = "tell the person this"
	})
	odd := filepath.Join(r.outside, "a b#?%41")
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(odd, name), []byte("content of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := r.agent()
	send := func(id, tool, name string, content string) {
		a.send(callLine(id, tool, fmt.Sprintf(`{"path":%q%s}`, filepath.Join(odd, name), content)))
	}
	decide := func(yes bool) {
		item := r.pending(1)[0]
		if _, won, err := r.queue.Decide(item.ID, item.Digest, yes, "tui", ""); !won || err != nil {
			t.Fatal(won, err)
		}
	}
	send("1", "filesystem__read_text_file", "one", "")
	decide(true)
	if m := a.answerTo("1"); m.isError() || m.text() != "content of one" {
		t.Fatalf("approved: %s", m.Result)
	}
	send("2", "filesystem__read_text_file", "two", "")
	decide(false)
	if m := a.answerTo("2"); !m.isError() || !strings.Contains(m.text(), "ESCALATION DENIED") {
		t.Fatalf("not approved: %s", m.Result)
	}
	if m := a.call("3", "filesystem__list_allowed_directories", `{}`); strings.Contains(m.text(), "outside") || !strings.Contains(m.text(), "/workspace") {
		t.Fatalf("open afterwards: %s", m.Result)
	}
	send("4", "filesystem__write_file", "new", `,"content":"x"`) // nobody is asked
	if m := a.answerTo("4"); !m.isError() || !strings.Contains(m.text(), ruleFutile) || !strings.Contains(m.text(), "tell the person this") {
		t.Fatalf("written: %s", m.Result)
	}
	send("5", "filesystem__list_directory", "", "")
	decide(true)
	if m := a.answerTo("5"); m.isError() || !strings.Contains(m.text(), "two") {
		t.Fatalf("listed: %s", m.Result)
	}
}

// order are the messages that the stub got since it knew the tools, in
// short.
func (r *harness) order() []string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.stub, "received"))
	if err != nil {
		r.t.Fatal(err)
	}
	_, since, _ := strings.Cut(string(data), `"method":"tools/list"`)
	var all []string
	for line := range strings.Lines(since) {
		var m struct {
			Method string
			Params struct{ Arguments struct{ Path string } }
			Result struct{ Roots []struct{ URI string } }
		}
		if json.Unmarshal([]byte(line), &m) != nil {
			continue
		}
		word := m.Method
		if m.Params.Arguments.Path != "" {
			word = filepath.Base(m.Params.Arguments.Path)
		}
		for _, root := range m.Result.Roots {
			word += " " + filepath.Base(root.URI)
		}
		all = append(all, strings.TrimSpace(word))
	}
	return all
}

func rooted(c *Config) {
	dir := filepath.Dir(c.Servers[0].Env[stubVar])
	c.Servers[0].Roots = []string{filepath.Join(dir, "work")}
	c.Servers[0].Env[rootsVar] = "1"
}

// While a directory is open for one call, no other call is on its way.
func TestOpenDirectoriesServeNoOtherCall(t *testing.T) {
	r := newHarness(t, rooted)
	a := r.agent()
	if m := a.call("0", "filesystem__read_text_file", `{"path":"/workspace/before"}`); m.isError() {
		t.Fatal(m.text())
	}
	a.send(r.outsideCall("1"))
	item := r.pending(1)[0]
	var others sync.WaitGroup
	for i := range 8 {
		b := r.agent()
		others.Go(func() {
			for n := range 5 {
				b.call(fmt.Sprint(n+1), "filesystem__read_text_file", fmt.Sprintf(`{"path":"/workspace/inside%d"}`, i))
			}
		})
	}
	if _, won, err := r.queue.Decide(item.ID, item.Digest, true, "tui", ""); !won || err != nil {
		t.Fatal(won, err)
	}
	if m := a.answerTo("1"); m.isError() {
		t.Fatal(m.text())
	}
	others.Wait()
	order := r.order()
	at := slices.Index(order, "notifications/roots/list_changed")
	if at < 0 || len(order) < at+5 {
		t.Fatalf("received %q", order)
	}
	var path struct{ Path string }
	_ = json.Unmarshal(item.Arguments, &path)
	want := []string{
		"notifications/roots/list_changed", "work outside", filepath.Base(path.Path),
		"notifications/roots/list_changed", "work",
	}
	if diff := cmp.Diff(want, order[at:at+5]); diff != "" {
		t.Error(diff)
	}
}

// A server that does not take a directory back is ended.
func TestAServerThatKeepsADirectoryIsEnded(t *testing.T) {
	down := make(chan struct{}, 8) // lossy: one is enough
	r := newHarness(t, func(c *Config) {
		rooted(c)
		c.Servers[0].Env[rootsVar] = "once"
		c.Limits.Roots = 3 * time.Second
		c.Activity = func(a Activity) {
			if a.Kind == ServerDown {
				select {
				case down <- struct{}{}:
				default:
				}
			}
		}
	})
	a := r.agent()
	a.send(r.outsideCall("1"))
	item := r.pending(1)[0]
	if _, won, err := r.queue.Decide(item.ID, item.Digest, true, "tui", ""); !won || err != nil {
		t.Fatal(won, err)
	}
	if m := a.answerTo("1"); m.isError() {
		t.Fatal(m.text())
	}
	<-down
}

func TestBeyond(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "d", "file")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := filepath.Join(dir, "d")
	for _, c := range []struct{ paths, want []string }{
		{[]string{file}, []string{d}},
		{[]string{d}, []string{d}},
		{[]string{filepath.Join(d, "new")}, []string{d}},
		{[]string{filepath.Join(d, "new", "deep")}, []string{d}},
		{[]string{file, d, filepath.Join(d, "x")}, []string{d}},
		{[]string{dir + "/open/x", "relative", dir + "/open"}, nil},
		{[]string{dir + "/opened"}, []string{dir}},
	} {
		if diff := cmp.Diff(c.want, beyond(c.paths, []string{dir + "/open"})); diff != "" {
			t.Errorf("%v: %s", c.paths, diff)
		}
	}
}

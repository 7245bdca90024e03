package mcpproxy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
)

// Whatever the tool and whatever is at the path: either the call is refused without asking,
// with a reason, or its approval leads to its effect. There is no third case.
func TestEveryQuestionIsWorthAnAnswer(t *testing.T) {
	staged := gitOnStages(t)
	r := newHarness(t, func(c *Config) {
		staged(c)
		c.Preview = &preview.Previewer{UserHome: filepath.Dir(c.Servers[0].Staging.Open[0]), Command: gitCommand}
		c.Limits.Escalations, c.Limits.Alike = 1000, 1000
	})
	// places makes what a call finds at a path, and returns the path.
	places := map[string]func(dir string) string{
		"file":         func(dir string) string { return put(t, filepath.Join(dir, "f"), "text") },
		"absent":       func(dir string) string { return filepath.Join(dir, "f") },
		"no directory": func(dir string) string { return filepath.Join(dir, "none", "f") },
		"below a file": func(dir string) string { return filepath.Join(put(t, filepath.Join(dir, "f"), "text"), "g") },
		"directory":    func(dir string) string { put(t, filepath.Join(dir, "d", "f"), "text"); return filepath.Join(dir, "d") },
		"pipe": func(dir string) string {
			return made(t, syscall.Mkfifo(filepath.Join(dir, "p"), 0o600), filepath.Join(dir, "p"))
		},
		"hidden":        func(dir string) string { return put(t, filepath.Join(r.dir, ".ssh", filepath.Base(dir)), "text") },
		"of programs":   func(dir string) string { return filepath.Join("/usr/bin", filepath.Base(dir)) },
		"of the kernel": func(string) string { return "/proc/sys/kernel/hostname" },
		"of the root":   func(dir string) string { return filepath.Join("/", filepath.Base(dir)) },
		"long":          func(dir string) string { return filepath.Join(dir, strings.Repeat("x", 300)) },
	}
	if os.Getuid() == 0 { // what only root can prepare
		readOnly := readOnlyMount(t, r.dir)
		places["read-only"] = func(string) string { return filepath.Join(readOnly, "file") }
		places["new, read-only"] = func(string) string { return filepath.Join(readOnly, "new") }
		ofSystem := filepath.Join("/etc", filepath.Base(r.dir))
		places["of the system, open"] = func(dir string) string {
			path := filepath.Join("/etc", filepath.Base(dir))
			t.Cleanup(func() { _, _ = os.RemoveAll(path), os.RemoveAll(path+".moved") })
			return put(t, path, "text")
		}
		places["of the system"] = func(dir string) string { return put(t, filepath.Join(ofSystem, filepath.Base(dir)), "text") }
		t.Cleanup(func() { _ = os.RemoveAll(ofSystem) })
	}
	tools := map[string]func(path string) (arguments string, holds func() bool){
		"read_text_file": func(p string) (string, func() bool) { return fmt.Sprintf(`{"path":%q}`, p), nil },
		"list_directory": func(p string) (string, func() bool) { return fmt.Sprintf(`{"path":%q}`, p), nil },
		"get_file_info":  func(p string) (string, func() bool) { return fmt.Sprintf(`{"path":%q}`, p), nil },
		"write_file": func(p string) (string, func() bool) {
			return fmt.Sprintf(`{"path":%q,"content":"other"}`, p), func() bool { return reads(p, "other") }
		},
		"edit_file": func(p string) (string, func() bool) {
			return fmt.Sprintf(`{"path":%q,"edits":[{"oldText":"text","newText":"other"}]}`, p), func() bool { return reads(p, "other") }
		},
		"create_directory": func(p string) (string, func() bool) {
			return fmt.Sprintf(`{"path":%q}`, p), func() bool { info, err := os.Stat(p); return err == nil && info.IsDir() }
		},
		"move_file": func(p string) (string, func() bool) {
			to := p + ".moved"
			return fmt.Sprintf(`{"source":%q,"destination":%q}`, p, to), func() bool {
				_, gone := os.Lstat(p)
				_, there := os.Lstat(to)
				return gone != nil && there == nil
			}
		},
	}
	a := r.agent()
	n, asked := 0, 0
	for tool, call := range tools {
		for place, make := range places {
			n++
			dir := filepath.Join(r.outside, fmt.Sprintf("%s%d", filepath.Base(r.dir), n))
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			arguments, holds := call(make(dir))
			was, failed := r.answered(a, n, "filesystem__"+tool, arguments)
			switch {
			case !was && !strings.Contains(failed, "DENIED"):
				t.Errorf("%s, %s: nobody was asked, and it answers %q", tool, place, failed)
			case was && failed != "":
				t.Errorf("%s, %s: a person approved it in vain: %s", tool, place, failed)
			case was && holds != nil && !holds():
				t.Errorf("%s, %s: it has no effect", tool, place)
			}
			if was {
				asked++
			}
		}
	}
	t.Logf("%d calls, %d of them asked", n, asked)
}

// readOnlyMount returns a directory that is mounted read-only and contains a file.
func readOnlyMount(t *testing.T, dir string) string {
	t.Helper()
	at := filepath.Join(dir, "read-only")
	err := errors.Join(os.Mkdir(at, 0o700), syscall.Mount("none", at, "tmpfs", 0, ""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(at, 0) })
	put(t, filepath.Join(at, "file"), "text")
	if err := syscall.Mount("none", at, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	return at
}

// answered makes a call and approves it if it asks. It reports whether it asked, and the
// error that the agent was told.
func (r *harness) answered(a *agent, n int, tool, arguments string) (asked bool, failed string) {
	r.t.Helper()
	_, changes := r.queue.Subscribe(r.t.Context())
	got := make(chan received, 1)
	a.send(callLine(fmt.Sprint(n), tool, arguments))
	go func() { got <- a.answerTo(fmt.Sprint(n)) }()
	for {
		select {
		case m := <-got:
			if m.isError() {
				return asked, m.text()
			}
			return asked, ""
		case c := <-changes:
			if c.Asked != nil {
				asked = true
				r.approve(1)
			}
		}
	}
}

func put(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	return made(t, os.WriteFile(path, []byte(text), 0o600), path)
}

func made(t *testing.T, err error, path string) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

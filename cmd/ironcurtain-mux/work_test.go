package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// work is the workspace of a running session as its agent has it now: a directory of this machine,
// or, where files are copied, one of the container, to which this machine's is equal only when a
// tool works there or the agent has ended.
type work struct {
	t      testing.TB
	s      broker.Session
	engine *docker.Client // nil: files are shared
}

// workOf returns the workspace of a session.
func workOf(t testing.TB, s broker.Session) work {
	t.Helper()
	w := work{t: t, s: s}
	if copied() {
		w.engine = engine(t)
	}
	return w
}

// mostArgument is how much of a file one command carries.
const mostArgument = 60 << 10

// read returns a file, and whether there is one.
func (w work) read(name string) (text string, ok bool) {
	w.t.Helper()
	if w.engine != nil {
		if out, there := w.inside("cat /workspace/" + name); there {
			return out, true
		}
	} // else, or when the container is gone, the file is here
	data, err := os.ReadFile(filepath.Join(w.s.Workspace, name))
	return string(data), err == nil && (w.engine == nil || !w.runs())
}

// add writes at the end of a file, which may be a program.
func (w work) add(name, text string) {
	w.t.Helper()
	if w.engine == nil {
		f, err := os.OpenFile(filepath.Join(w.s.Workspace, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o755)
		if err != nil {
			w.t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			w.t.Fatal(err)
		}
		return
	}
	for begun := false; text != "" || !begun; begun = true {
		part := text[:min(len(text), mostArgument)]
		text = text[len(part):]
		script := fmt.Sprintf("echo %[1]s | base64 -d >>/workspace/%[2]s && chmod +x /workspace/%[2]s", base64.StdEncoding.EncodeToString([]byte(part)), name)
		if out, ok := w.inside(script); !ok {
			w.t.Fatalf("write %s in the container: %s", name, out)
		}
	}
}

// remove removes a file.
func (w work) remove(name string) {
	w.t.Helper()
	if w.engine != nil {
		w.inside("rm -f /workspace/" + name)
	}
	_ = os.Remove(filepath.Join(w.s.Workspace, name))
}

func (w work) runs() bool {
	_, ok := w.inside("true")
	return ok
}

// inside runs a shell command in the session's container, and reports whether there is one in which it
// succeeded.
func (w work) inside(script string) (out string, ok bool) {
	w.t.Helper()
	list, err := w.engine.List(w.t.Context(), map[string]string{broker.LabelSession: w.s.ID})
	if err != nil || len(list) != 1 {
		return fmt.Sprint(err), false
	}
	out, errs, code, err := w.engine.Exec(w.t.Context(), list[0].ID, []string{"bash", "-c", script}, "1000:1000")
	if err != nil {
		return err.Error(), false
	}
	return out + strings.Repeat(errs, min(code, 1)), code == 0
}

// landed takes to the person's workspace what a session that has ended has changed in its copy of it.
func (d *driver) landed(id broker.SessionID) {
	d.t.Helper()
	if !copied() {
		return
	}
	if out, errs, code := d.command("sessions", "land", string(id[:8]), "--yes", "--ignored"); code != 0 {
		d.t.Fatalf("sessions land: code %d, %s%s", code, out, errs)
	}
}

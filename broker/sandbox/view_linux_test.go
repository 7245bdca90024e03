package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stage"
)

// A server with a view sees and changes what the view contains, and nothing else.
func TestView(t *testing.T) {
	g := lay(t)
	h := host(t, g, Options{Runtime: installed(t), Programs: []string{cacheDir(t)}})
	at := t.TempDir()
	copies, whole := filepath.Join(g.home, "a"), filepath.Join(g.home, "whole")
	for _, dir := range []string{copies, whole, filepath.Join(at, copies)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	config := filepath.Join(g.home, ".config")
	for _, name := range []string{"plain", "gh/hosts.yml"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(config, "gh"), 0o700), os.WriteFile(filepath.Join(config, name), []byte("text"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Lstat(whole)
	if err != nil {
		t.Fatal(err)
	}
	configInfo, err := os.Lstat(config)
	if err != nil {
		t.Fatal(err)
	}
	spec := func(b stage.Bind) Spec {
		script := fmt.Sprintf(`
r() { if cat "$2" >/dev/null 2>&1; then echo "$1=yes"; else echo "$1=no"; fi; }
w() { if (: > "$2") 2>/dev/null; then echo "$1=yes"; else echo "$1=no"; fi; }
r home '%[1]s/plain'; r session '%[2]s/hello'; w session '%[2]s/new'; w copies '%[1]s/a/new'; w whole '%[1]s/whole/new'; w root /new; w usr /usr/new
r config '%[1]s/.config/plain'; r login '%[1]s/.config/gh/hosts.yml'`, g.home, g.session)
		return Spec{Name: "viewer", Argv: []string{"/bin/bash", "-c", script}, View: &View{Stage: at, Copies: []string{copies}, Binds: []stage.Bind{b, {Path: config, Info: configInfo}}}}
	}
	p, err := h.Start(t.Context(), spec(stage.Bind{Path: whole, Writable: true, Info: info}))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(p.Stdout())
	p.Stop()
	if want := "home=no\nsession=no\nsession=no\ncopies=yes\nwhole=yes\nroot=no\nusr=no\nconfig=yes\nlogin=no\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s%s", err, out, p.Stderr())
	}
	if _, err := os.Lstat(filepath.Join(copies, "new")); err == nil {
		t.Error("the real directory of the copies was written to")
	}
	if _, err := os.Lstat(filepath.Join(whole, "new")); err != nil {
		t.Error("the directory that was bound was not written to")
	}
	// Another directory of the same name is not shown.
	if err := os.Rename(whole, whole+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(whole, 0o700); err != nil {
		t.Fatal(err)
	}
	if p, err := h.Start(t.Context(), spec(stage.Bind{Path: whole, Writable: true, Info: info})); err == nil {
		p.Stop()
		t.Error("another directory was bound")
	} else if !strings.Contains(err.Error(), errReplaced.Error()) {
		t.Error(err)
	}
}

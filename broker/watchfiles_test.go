package broker

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A workspace that is not there any more is told of once, stays in the tab's notice, and
// its return is told, too.
func TestAWorkspaceThatIsGoneIsTold(t *testing.T) {
	d := newDesk(t)
	above := filepath.Join(d.outside, "above")
	work := filepath.Join(above, "work")
	d.session.fixed.Workspace, d.session.fixed.Notice = work, "scripted model"
	d.session.CheckWorkspace() // it starts, and its workspace is made
	d.session.count(func(t *tally) { t.running, t.connected = true, true })
	events, err := d.broker.Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	create := func() {
		t.Helper()
		if err := os.MkdirAll(work, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	create()
	away := filepath.Join(d.outside, "away")
	for _, step := range []struct {
		do     func() error
		notice string
		told   string
	}{
		{func() error { return nil }, "scripted model", ""},
		{func() error { return os.Rename(work, away) }, workspaceGone + " · scripted model", "was deleted, moved or replaced"},
		{func() error { create(); return nil }, workspaceGone + " · scripted model", ""},
		{func() error { return errors.Join(os.Remove(work), os.Rename(away, work)) }, "scripted model", "is back"},
		{func() error { return errors.Join(os.Rename(above, away), os.WriteFile(above, nil, 0o600)) }, workspaceGone + " · scripted model", "was deleted, moved or replaced"},
		{func() error { return errors.Join(os.Remove(above), os.Rename(away, above)) }, "scripted model", "is back"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		d.session.CheckWorkspace()
		if got := d.session.Info().Notice; got != step.notice {
			t.Errorf("the tab says %q, not %q", got, step.notice)
		}
		for step.told != "" {
			if ev := <-events; ev.Notice != nil {
				if !strings.Contains(ev.Notice.Text, step.told) || ev.Notice.Session != d.session.fixed.ID {
					t.Errorf("told %+v", ev.Notice)
				}
				break
			}
		}
	}
	d.session.count(func(t *tally) { t.dead = true })
	if err := os.Remove(work); err != nil {
		t.Fatal(err)
	}
	d.session.CheckWorkspace()
	if got := d.session.Info().Notice; got != "scripted model" {
		t.Errorf("of a session that has ended: %q", got)
	}
}

// A config.json that becomes one that the next start refuses is told of when it does.
func TestABrokenConfigIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	checked := 0
	w := configWatch{path: path, check: func() error {
		checked++
		if data, err := os.ReadFile(path); err == nil && string(data) == "garbled" {
			return errors.New("it is garbled")
		}
		return nil
	}}
	w.seen = w.stat()
	for _, step := range []struct {
		text   string // of the file; - is none
		told   string
		checks int
	}{
		{"-", "", 0}, {"{}", "", 1}, {"{}", "", 1}, {"garbled", "garbled", 2}, {"garbled", "", 2}, {"{ }", "right again", 3}, {"-", "", 4},
	} {
		if before, err := os.ReadFile(path); err != nil || string(before) != step.text {
			err := os.Remove(path)
			if step.text != "-" {
				err = os.WriteFile(path, []byte(step.text), 0o600)
			}
			if err != nil && step.checks > 0 {
				t.Fatal(err)
			}
		}
		got := w.look()
		if (got == "") != (step.told == "") || !strings.Contains(got, step.told) || checked != step.checks {
			t.Errorf("%q: told %q after %d checks", step.text, got, checked)
		}
	}
}

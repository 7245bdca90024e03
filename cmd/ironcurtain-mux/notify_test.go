package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
)

// The daemon runs the command for notifications: once for two views, and without any, but not for a
// tab that was muted in the last one. An error of the command waits for a view.
func TestTheDaemonNotifies(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	out, leave := filepath.Join(home, "out"), filepath.Join(home, "leave")
	configure(t, home, fmt.Sprintf(`{"localShell":true,"agent":"local-shell","notifyCommand":["sh","-c",%q]}`,
		`echo "$IRONCURTAIN_EVENT $IRONCURTAIN_TITLE: $IRONCURTAIN_TEXT" >>`+out+`; case $IRONCURTAIN_TEXT in *4) exit 9; esac`))
	d := serveDaemon(t, home, "env", noEngine)
	a, b := attach(t, home, 120, 30), attach(t, home, 120, 30)
	a.see(patience, "here>")
	b.see(patience, "here>")
	runs := func(view *driver, want string) {
		t.Helper()
		view.until("the command", patience, func(string) bool {
			data, _ := os.ReadFile(out)
			return strings.Count(string(data), "\n") == strings.Count(want, "\n")
		})
		data, _ := os.ReadFile(out)
		if told := regexp.MustCompile(`[0-9a-f]{8}:`).ReplaceAllString(string(data), "ID:"); told != want {
			t.Errorf("the command was told %q, want %q", told, want)
		}
	}
	first := "dead ironcurtain-mux local-shell ID: ended with exit code 3\n"
	a.send("exit 3\r")
	runs(a, first)
	a.send("\x01/new\r")
	a.inTab(2, "here>")
	a.send("until test -e " + leave + "; do sleep 0.1; done; exit 4\r")
	for _, view := range []*driver{a, b} {
		view.send("\x01/detach\r")
		view.exit(patience)
	}
	if err := os.WriteFile(leave, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	runs(d, first+"dead ironcurtain-mux local-shell ID: ended with exit code 4\n")
	c := attach(t, home, 120, 30)
	c.see(patience, "notify: sh: exit status 9 (fix notifyCommand in config.json)")
	c.send("\x01/new\r")
	c.inTab(3, "here>")
	c.send("\x01/mute\r")
	c.see(patience, "bell and notifications of local-shell ", " are off")
	if err := os.Remove(leave); err != nil {
		t.Fatal(err)
	}
	c.send("until test -e " + leave + "; do sleep 0.1; done; exit 5\r\x01/detach\r")
	c.exit(patience)
	if err := os.WriteFile(leave, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c = attach(t, home, 120, 30)
	c.until("the end of the third tab", patience, func(string) bool {
		return slices.ContainsFunc(d.sessions(), func(s broker.StoredSession) bool { return s.ExitCode == 5 })
	})
	c.see(patience, "3 ✗", "here>") // the view is there
	c.send("\x01/new\r")
	c.inTab(4, "here>")
	c.send("exit 6\r")
	runs(c, first+"dead ironcurtain-mux local-shell ID: ended with exit code 4\ndead ironcurtain-mux local-shell ID: ended with exit code 6\n")
	if out, errs, code := d.command("stop", "--now"); code != 0 {
		t.Errorf("stop --now: %d, %s%s", code, out, errs)
	}
	c.exit(patience)
	d.exit(patience)
}

package main

import (
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// The daemon reads config.json again for tabs and views that are opened from then on, unless the
// file is invalid.
func TestTheDaemonReadsItsConfigurationAgain(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"localShell":true,"agent":"local-shell"}`)
	d := serveDaemon(t, home, "env", noEngine)
	a := attach(t, home, 120, 30)
	a.see(patience, "here>")

	configure(t, home, `{"localShell":true,"agent":"local-shell","maxSesions":1}`)
	if _, errs, code := d.command("reload"); code != cli.ExitFailure || strings.Count(errs, "maxSesions: there is no setting of this name") != 1 || strings.Count(errs, "(") != 1 {
		t.Errorf("an invalid file: %d, %s", code, errs)
	}
	configure(t, home, `{"localShell":true,"agent":"nobody"}`)
	if _, errs, code := d.command("reload"); code != cli.ExitFailure || !strings.Contains(errs, "nobody") {
		t.Errorf("an agent that nobody knows: %d, %s", code, errs)
	}
	a.send("\x01/new\r")
	a.see(patience, "the former settings stay in use")
	a.see(patience, "1 ", "2 ", "here>")

	configure(t, home, `{"localShell":true,"agent":"local-shell","maxSessions":2,"commandKey":"ctrl+b"}`)
	a.send("\x01/new\r")
	a.see(patience, "2 sessions run already")
	if _, errs, code := d.command("reload"); code != cli.ExitOK || !strings.Contains(errs, "was read again") {
		t.Errorf("reload: %d, %s", code, errs)
	}
	configure(t, home, `{"localShell":true,"agent":"local-shell","maxSessions":2,"commandKey":"ctrl+t"}`)
	b := attach(t, home, 120, 30)
	b.see(patience, "here>")
	b.send("\x14/detach\r")
	if code := b.exit(patience); code != cli.ExitOK {
		t.Errorf("the new key is not bound: %d, %s", code, b.text())
	}
	if _, errs, code := d.command("stop", "--now"); code != cli.ExitOK {
		t.Errorf("stop: %d, %s", code, errs)
	}
	d.exit(patience)
	if _, errs, code := d.command("reload"); code != cli.ExitFailure || !strings.Contains(errs, "no multiplexer is running") {
		t.Errorf("without a daemon: %d, %s", code, errs)
	}
}

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/docker/fakeengine"
)

// withSSH makes a home whose engine is on a machine that ssh leads to, and the PATH of its person.
func withSSH(t *testing.T, s fakeengine.SSH) (home, path string, e *fakeengine.Engine) {
	t.Helper()
	e = fakeengine.StartSSH(t, realEngine(t), fakeengine.Faults{}, s)
	home = newHome(t)
	configure(t, home, fmt.Sprintf(`{"agent":"shell","engine":{"use":%q}}`, e.Address()))
	return home, "PATH=" + e.Commands() + ":" + os.Getenv("PATH"), e
}

// The daemon cannot be asked anything by ssh. So whoever starts it is, before the screen is taken.
func TestSSHAsksBeforeTheScreenIsTaken(t *testing.T) {
	t.Parallel()
	home, path, _ := withSSH(t, fakeengine.SSH{Stranger: true})
	d := driveArgv(t, home, 120, 30, "env", path, "ironcurtain-mux")
	d.see(patience, "continue connecting")
	d.send("yes\r")
	d.see(patience, "/workspace$")
	d.send("echo over s''sh\r")
	d.see(patience, "over ssh")
	d.send("\x01/quit!\r")
	if code := d.exit(patience); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}

// Where the machine forwards no socket, each connection of a session has an ssh of its own, and none
// is left.
func TestSSHThatForwardsNothing(t *testing.T) {
	t.Parallel()
	home, path, e := withSSH(t, fakeengine.SSH{NoForwarding: true})
	d := driveArgv(t, home, 120, 30, "env", path, "ironcurtain-mux")
	d.see(patience, "/workspace$")
	d.send("echo over m''any\r")
	d.see(patience, "over many")
	e.Disconnect()
	d.send("echo over m''ore\r")
	d.see(patience, "over more")
	d.send("\x01/quit!\r")
	if code := d.exit(patience); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	d.until("no ssh", patience, func(string) bool { return e.Connections() == 0 })
}

// Whoever does not want to answer leaves, and so does ssh.
func TestSSHQuestionIsLeft(t *testing.T) {
	t.Parallel()
	home, path, e := withSSH(t, fakeengine.SSH{Stranger: true})
	d := driveArgv(t, home, 120, 30, "env", path, "ironcurtain-mux", "gc")
	d.see(patience, "continue connecting")
	d.send("\x03")
	if code := d.exit(patience); code == 0 {
		t.Error("it ended as if all were well")
	}
	d.until("no ssh", patience, func(string) bool { return e.Connections() == 0 })
}

// A daemon that becomes another program leaves no ssh behind, and its tabs go on over a new one.
func TestUpgradeOverSSH(t *testing.T) {
	t.Parallel()
	home, path, e := withSSH(t, fakeengine.SSH{})
	d := driveArgv(t, home, 120, 30, "env", path, "ironcurtain-mux")
	d.see(patience, "/workspace$")
	s := sshd{t: t, home: home}
	if out, errs, code := s.command(path, "ironcurtain-mux", "upgrade"); code != 0 {
		t.Fatalf("upgrade: %d, %s%s", code, out, errs)
	}
	d.send("echo still o''ver ssh\r")
	d.see(patience, "still over ssh")
	d.until("one ssh", patience, func(string) bool { return e.Connections() == 1 })
	d.send("\x01/quit!\r")
	if code := d.exit(patience); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	d.until("no ssh", patience, func(string) bool { return e.Connections() == 0 })
}

// Without a terminal nothing can be asked, and the error says what to do.
func TestSSHThatWouldHaveToAsk(t *testing.T) {
	t.Parallel()
	home, path, e := withSSH(t, fakeengine.SSH{Stranger: true})
	s := sshd{t: t, home: home}
	_, errs, code := s.command(path, "ironcurtain-mux", "start", "--agent", "shell", "true")
	if code == 0 || !strings.Contains(errs, "Host key verification failed") || !strings.Contains(errs, "once in a terminal") {
		t.Errorf("it ends with %d: %s", code, errs)
	}
	if n := e.Accepted(); n == 0 || n > 2 {
		t.Errorf("the machine was tried %d times", n)
	}
	s.command(path, "ironcurtain-mux", "stop", "--now")
}

// Doctor names the machine, and says how far away it is, over one connection.
func TestDoctorOverSSH(t *testing.T) {
	t.Parallel()
	home, path, e := withSSH(t, fakeengine.SSH{})
	out, errs, _ := sshd{t: t, home: home}.command(path, "ironcurtain-mux", "doctor")
	for _, want := range []string{
		`(?m)^ok    engine .* at ` + regexp.QuoteMeta(e.Address()) + ` \(from engine\.use in config\.json\)`,
		`(?m)^ok    way .*; \d+ ms  `,
	} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s is not in:\n%s%s", want, out, errs)
		}
	}
	if n := e.Accepted(); n != 1 {
		t.Errorf("%d connections were made", n)
	}
}

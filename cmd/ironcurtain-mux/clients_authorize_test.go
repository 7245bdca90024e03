package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
)

// authorize runs 'clients authorize' with that input.
func (s sshd) authorize(key string, args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	path := s.write(filepath.Join(s.client, "..", "input"), key)
	return s.command(append([]string{"sh", "-c", `exec ironcurtain-mux clients authorize "$@" <` + path, "sh"}, args...)...)
}

// Who has an authorized key can answer the calls that wait, and nothing else, whatever is asked for.
func TestAnAuthorizedKeyOnlyAnswers(t *testing.T) {
	t.Parallel()
	home := newHome(t)
	configure(t, home, `{"localShell":true,"agent":"local-shell"}`)
	d := serveDaemon(t, home, "env", noEngine)
	a := attach(t, home, 110, 30)
	a.see(patience, "here>")
	a.send("echo secret$((1+1))\r")
	a.see(patience, "secret2")
	box := startSSHD(t, home, "/usr/bin:/bin")
	line, errs, code := box.authorize(box.newKey(filepath.Join(box.client, "..", "phone")), "phone")
	if code != 0 || errs != "" || strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, `restrict,pty,command="env IRONCURTAIN_HOME=`+filepath.Join(home, "state")+` /`) ||
		!strings.Contains(line, `ironcurtain-mux attach --answer-only --name phone" ssh-ed25519 `) || strings.Contains(line, "comment") {
		t.Fatalf("authorize: %d, %s\n%s", code, errs, line)
	}
	box.write(box.authority, line)
	for _, asked := range [][]string{nil, {"cat", "/etc/passwd"}, {"ironcurtain-mux", "attach"}} {
		phone := box.drive(append([]string{"ssh", "-tt", "phone"}, asked...)...)
		phone.see(patience, "waiting calls are shown here")
		if out, _, _ := d.command("clients", "ls"); strings.Count(out, "answer-only") != 1 || !strings.Contains(out, "  phone  ") {
			t.Errorf("clients:\n%s", out)
		}
		phone.send("\x03")
		if code := phone.exit(patience); code != 0 || !strings.Contains(phone.text(), "detached") || strings.Contains(phone.text(), "secret2") || strings.Contains(phone.text(), "root:") {
			t.Errorf("with %q it ends with %d: %s", asked, code, phone.text())
		}
	}
	made := filepath.Join(home, "made")
	for _, ssh := range [][]string{
		{"ssh", "phone", "touch " + made}, // without a terminal
		{"ssh", "phone", "ironcurtain-mux stop --now"},
		{"ssh", "-s", "phone", "sftp"},
		{"ssh", "-W", "127.0.0.1:22", "phone"},
		{"ssh", "-N", "-o", "ExitOnForwardFailure=yes", "-R", "127.0.0.1:0:127.0.0.1:9", "phone"},
		{"ssh", "-N", "-o", "ExitOnForwardFailure=yes", "-R", made + ":127.0.0.1:9", "phone"},
	} {
		if out, errs, code := box.command(ssh...); code == 0 || out != "" {
			t.Errorf("%q is not refused: %d, %s%s", ssh, code, out, errs)
		}
	}
	if _, err := os.Lstat(made); err == nil {
		t.Error("a command has run")
	}
	a.send("\x01/quit!\r")
	if code := a.exit(patience); code != 0 {
		t.Errorf("/quit! ends with %d: %s", code, a.text())
	}
	d.exit(patience)
}

func TestKeysThatCannotBeAuthorized(t *testing.T) {
	t.Parallel()
	const good = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPKSUTyz1HwHReFVvD5obVsALAgJRNarH4TRpNePnAS"
	box := sshd{t: t, home: newHome(t), client: filepath.Join(t.TempDir(), "bin")}
	for key, want := range map[string]string{
		good:                                     "",
		"\n" + good + " me@there\r\n":            "",
		"":                                       "no key on standard input",
		good + "\n" + good:                       "more than one line",
		strings.Repeat("x", 2*maxPublicKey):      "more than one line",
		"-----BEGIN OPENSSH PRIVATE KEY-----\nx": "ends in .pub",
		"ssh-ed25519":                            "no key after its type",
		`command="sh" ` + good:                   "does not begin with the type",
		"ssh-dss AAAAB3NzaC1kc3MAAAAB":           "does not begin with the type",
		good[:len(good)-4]:                       "not a complete key",
		good + "AAAA":                            "not a complete key",
		good[:len(good)-1] + "!":                 "not a complete key",
		strings.Replace(good, "ssh-ed25519", "ssh-rsa", 1): "not a complete key",
	} {
		out, errs, code := box.authorize(key, "phone")
		if want == "" && (code != 0 || !strings.HasSuffix(out, `--name phone" `+good+"\n")) {
			t.Errorf("%q: %d, %s%s", key, code, out, errs)
		}
		if want != "" && (code != cli.ExitFailure || out != "" || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1) {
			t.Errorf("%q: %d, %s%s; want %q", key, code, out, errs, want)
		}
	}
	if out, errs, code := box.command("-u", "IRONCURTAIN_HOME", "sh", "-c", `echo "$1" | exec ironcurtain-mux clients authorize phone`, "sh", good); code != 0 || !strings.HasPrefix(out, `restrict,pty,command="/`) {
		t.Errorf("without IRONCURTAIN_HOME: %d, %s%s", code, out, errs)
	}
	if out, errs, code := box.command("IRONCURTAIN_HOME=/a b", "sh", "-c", `echo "$1" | exec ironcurtain-mux clients authorize phone`, "sh", good); code != cli.ExitFailure || out != "" || !strings.Contains(errs, `IRONCURTAIN_HOME, "/a b", cannot be written`) {
		t.Errorf("with a space in IRONCURTAIN_HOME: %d, %s%s", code, out, errs)
	}
	for _, name := range []string{"", `a"b`, "a b", "-x", "1", "ä", "a\nb"} {
		if out, errs, code := box.authorize(good, "--", name); code != cli.ExitUsage || out != "" || !strings.Contains(errs, "is not a valid name") {
			t.Errorf("named %q: %d, %s%s", name, code, out, errs)
		}
	}
	for _, kind := range [][]string{{"rsa", "2048"}, {"ecdsa", "256"}, {"ecdsa", "384"}, {"ecdsa", "521"}} {
		path := filepath.Join(t.TempDir(), "key")
		if _, errs, code := box.command("ssh-keygen", "-q", "-t", kind[0], "-b", kind[1], "-N", "", "-f", path); code != 0 {
			t.Fatal(errs)
		}
		public, err := os.ReadFile(path + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		if _, errs, code := box.authorize(string(public), "phone"); code != 0 {
			t.Errorf("%q: %s", kind, errs)
		}
	}
}

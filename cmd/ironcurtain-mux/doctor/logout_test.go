package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a logout does to the daemon depends on where it was started, on linger, and on logind.
func TestDoctorTellsOfLogout(t *testing.T) {
	const (
		session  = "0::/user.slice/user-1000.slice/session-3.scope\n"
		hybrid   = "12:cpu:/\n1:name=systemd:/user.slice/user-1000.slice/session-3.scope\n0::/\n"
		ofUser   = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-terminal.scope\n"
		ofSystem = "0::/system.slice/ssh.service\n"
		kill     = "[Login]\nKillUserProcesses=yes\n"
	)
	const runs, lingers, conf, dir = "run/systemd/system/x", "var/lib/systemd/linger/me", "etc/systemd/logind.conf", "etc/systemd/logind.conf.d/"
	for name, c := range map[string]struct {
		cgroup string
		files  map[string]string // a file runs is always there
		remedy string            // empty: it outlives the logout
	}{
		"in a session":                 {session, nil, ""},
		"in a session that is killed":  {session, map[string]string{conf: kill}, "enable-linger', and end it"},
		"with linger only":             {session, map[string]string{conf: kill, lingers: " "}, "the next daemon is then started in a scope"},
		"hybrid":                       {hybrid, map[string]string{conf: kill}, "enable-linger"},
		"of the user's systemd":        {ofUser, nil, "run 'loginctl enable-linger'"},
		"of it, with linger":           {ofUser, map[string]string{lingers: "", conf: kill}, ""},
		"of the system":                {ofSystem, map[string]string{conf: kill}, ""},
		"in no group":                  {"0::/\n", map[string]string{conf: kill}, ""},
		"a comment":                    {session, map[string]string{conf: "[Login]\n#KillUserProcesses=yes\n"}, ""},
		"another section":              {session, map[string]string{conf: "[Other]\nKillUserProcesses=yes\n"}, ""},
		"another way to say yes":       {session, map[string]string{conf: "[Login]\n KillUserProcesses = True \n"}, "enable-linger"},
		"turned off by a later file":   {session, map[string]string{conf: kill, dir + "50-no.conf": "[Login]\nKillUserProcesses=no\n"}, ""},
		"turned on by a vendor's file": {session, map[string]string{conf: "", "usr/lib/systemd/logind.conf.d/a.conf": kill}, "enable-linger"},
		"that file is masked":          {session, map[string]string{dir + "a.conf": "", "usr/lib/systemd/logind.conf.d/a.conf": kill}, ""},
		"the vendor's is not read":     {session, map[string]string{conf: "", "usr/lib/systemd/logind.conf": kill}, ""},
		"others only":                  {session, map[string]string{conf: kill + "KillOnlyUsers=you them\n"}, ""},
		"me, too":                      {session, map[string]string{conf: kill + "KillOnlyUsers=you me\n"}, "enable-linger"},
		"not me":                       {session, map[string]string{conf: kill + "KillExcludeUsers=me\n"}, ""},
		"the list is emptied":          {session, map[string]string{conf: kill + "KillExcludeUsers=me\nKillExcludeUsers=\n"}, "enable-linger"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write := func(path, text string) string {
				t.Helper()
				path = filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			groups := write("cgroup", c.cgroup)
			for path, text := range c.files {
				write(path, text)
			}
			if f := afterLogout(root, groups, "me", true); f.Status != "ok" || !strings.Contains(f.Detail, "does not run here") {
				t.Errorf("without systemd: %+v", f)
			}
			write(runs, "")
			f := afterLogout(root, groups, "me", true)
			if (f.Status == "warn") != (c.remedy != "") || !strings.Contains(f.Remedy, c.remedy) {
				t.Errorf("found %+v", f)
			}
			if f := afterLogout(root, groups, "me", false); (f.Status == "warn") != (c.remedy != "" && c.files[lingers] != " ") {
				t.Errorf("without a daemon: found %+v", f)
			}
		})
	}
}

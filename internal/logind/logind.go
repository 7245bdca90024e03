// Package logind finds out what happens to a process when its user logs out of a machine with
// systemd.
package logind

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Fate is what a logout does to a process.
type Fate struct {
	Systemd bool // systemd runs on the machine; otherwise a logout does nothing
	Lingers bool // the user's own systemd continues to run after the last logout
	OfUser  bool // the process belongs to the user's own systemd, and ends with it
	Killed  bool // the process belongs to a login session, and is killed with it
}

// FateOf returns what a logout of the user who does to a process. cgroups is the path of a file from
// GroupsFile. root is the root of the file system with systemd's files.
func FateOf(root, cgroups, who string) (Fate, error) {
	if _, err := os.Stat(filepath.Join(root, "run/systemd/system")); err != nil {
		return Fate{}, nil //nolint:nilerr // there is no systemd
	}
	f := Fate{Systemd: true}
	text, err := os.ReadFile(cgroups)
	if err != nil {
		return f, err
	}
	_, err = os.Stat(filepath.Join(root, "var/lib/systemd/linger", who))
	f.Lingers = err == nil
	unit := unitOf(string(text))
	f.OfUser = strings.HasPrefix(unit, "user@")
	f.Killed = strings.HasPrefix(unit, "session-") && read(root).kills(who)
	return f, nil
}

// unitOf returns the unit of a process right below the slices, such as session-3.scope or
// user@1000.service; empty: none.
func unitOf(cgroups string) string {
	for line := range strings.Lines(cgroups) {
		group, found := strings.CutPrefix(line, "0::")
		if !found {
			_, group, found = strings.Cut(line, ":name=systemd:")
		}
		for part := range strings.SplitSeq(strings.TrimSpace(group), "/") {
			if found && part != "" && !strings.HasSuffix(part, ".slice") {
				return part
			}
		}
	}
	return ""
}

// settings are logind's settings for the processes of users who log out.
type settings struct {
	kill, only, except []string // values; the last of kill counts
}

// kills reports whether a logout kills the processes of a user.
func (l settings) kills(who string) bool {
	yes := []string{"1", "yes", "y", "true", "t", "on"}
	if len(l.kill) == 0 || !slices.Contains(yes, strings.ToLower(l.kill[len(l.kill)-1])) || slices.Contains(l.except, who) {
		return false
	}
	return len(l.only) == 0 || slices.Contains(l.only, who)
}

// read reads the configuration of logind: the first logind.conf that exists, then the files in
// logind.conf.d, sorted by name. Of several with the same name, the first counts.
func read(root string) settings {
	l := settings{except: []string{"root"}}
	var whole string
	added := map[string]string{} // path by name
	for _, dir := range []string{"etc", "run", "usr/local/lib", "usr/lib"} {
		dir = filepath.Join(root, dir, "systemd")
		if _, err := os.Stat(filepath.Join(dir, "logind.conf")); err == nil {
			whole = cmp.Or(whole, filepath.Join(dir, "logind.conf"))
		}
		paths, _ := filepath.Glob(filepath.Join(dir, "logind.conf.d", "*.conf")) // the pattern is right
		for _, path := range paths {
			if name := filepath.Base(path); added[name] == "" {
				added[name] = path
			}
		}
	}
	l.add(whole)
	for _, name := range slices.Sorted(maps.Keys(added)) {
		l.add(added[name])
	}
	return l
}

// add adds the settings in a file. It ignores a file that cannot be read.
func (l *settings) add(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		name, value, found := strings.Cut(line, "=")
		into := map[string]*[]string{"KillUserProcesses": &l.kill, "KillOnlyUsers": &l.only, "KillExcludeUsers": &l.except}[strings.TrimSpace(name)]
		if !found || section != "[Login]" || into == nil {
			continue
		}
		words := strings.Fields(value)
		if len(words) == 0 {
			*into = nil
		}
		*into = append(*into, words...)
	}
}

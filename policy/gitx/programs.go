package gitx

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Programs returns the names of the repository's own variables that would make git start a
// program. "hooks" means installed hook scripts; most of them count only if hooks is true.
// The user's own configuration is trusted and does not count. Variables in fixed do not
// count either, because git gets them from a source that overrides the repository.
func (r *Repo) Programs(hooks bool, fixed []string) []string {
	isFixed := func(name string) bool {
		return slices.ContainsFunc(fixed, func(f string) bool { return strings.EqualFold(f, name) })
	}
	var out []string
	for _, e := range r.own.entries {
		name := e.section + "." + e.name
		if !e.startsProgram() || (e.subsection == "" && isFixed(name)) {
			continue
		}
		out = append(out, e.family())
	}
	if isFixed("core.hooksPath") {
		return out
	}
	dir := filepath.Join(r.CommonDir, "hooks")
	if (hooks && installedHooks(dir)) || exists(filepath.Join(dir, "post-index-change")) {
		out = append(out, "hooks")
	}
	return out
}

// family returns the name of the variable, with "*" for a subsection.
func (e entry) family() string {
	if e.subsection != "" {
		return e.section + ".*." + e.name
	}
	return e.section + "." + e.name
}

// startsProgram reports whether git runs the value as a program, or whether the value makes
// git use another network address than the remote's, or read files.
func (e entry) startsProgram() bool {
	switch e.section {
	case "core":
		switch e.name {
		case "fsmonitor":
			return e.value != "" && !isBoolean(e.value)
		case "sshcommand", "gitproxy", "hookspath", "editor", "askpass", "alternaterefscommand", "pager":
			return true
		}
	case "pager":
		return !isBoolean(e.value)
	case "alias":
		return strings.HasPrefix(e.value, "!")
	case "gc":
		return e.name == "recentobjectshook"
	case "difftool", "mergetool", "man", "browser", "guitool":
		return e.name == "cmd" || e.name == "path"
	case "tar":
		return e.name == "command"
	case "sendemail":
		return strings.HasSuffix(e.name, "cmd") || e.name == "smtpserver"
	case "extensions": // an older form of remote.*.promisor
		return e.name == "partialclone"
	case "remote": // git fetches missing objects whenever it needs them
		return e.name == "promisor" || e.name == "partialclonefilter" || e.name == "lfsurl" || e.name == "lfspushurl"
	case "branch":
		return e.name == "mergeoptions" && !harmlessOptions(e.value)
	case "fetch":
		return e.name == "bundleuri"
	case "lfs":
		return slices.Contains([]string{"url", "pushurl", "path", "clean", "smudge", "standalonetransferagent"}, e.name)
	case "imap":
		return e.name == "tunnel"
	case "diff":
		return e.name == "external" || e.name == "command" || e.name == "textconv"
	case "filter":
		return e.name == "clean" || e.name == "smudge" || e.name == "process"
	case "merge":
		return e.name == "driver"
	case "gpg":
		return e.name == "program" || e.name == "defaultkeycommand"
	case "credential":
		return e.name == "helper"
	case "hook":
		return true
	case "sequence":
		return e.name == "editor"
	case "interactive":
		return e.name == "difffilter"
	case "uploadpack":
		return e.name == "packobjectshook"
	case "submodule":
		return e.name == "update" && strings.HasPrefix(e.value, "!")
	case "protocol":
		return e.name == "allow"
	case "trailer":
		return e.name == "command" || e.name == "cmd"
	case "http":
		return strings.HasPrefix(e.name, "proxy") || strings.HasPrefix(e.name, "ssl") || e.name == "curloptresolve" || e.name == "cookiefile"
	}
	return false
}

// mergeOptions are options of git merge that neither read a file nor run anything
// (as --file and --strategy could).
var mergeOptions = []string{
	"--ff", "--no-ff", "--ff-only", "--commit", "--no-commit", "--log", "--no-log", "--stat", "--no-stat", "-n",
	"--squash", "--no-squash", "--edit", "--no-edit", "-e", "--signoff", "--no-signoff", "--verify", "--no-verify",
	"--rerere-autoupdate", "--no-rerere-autoupdate", "--autostash", "--no-autostash", "-q", "--quiet", "-v", "--verbose",
	"--progress", "--no-progress", "--verify-signatures", "--no-verify-signatures",
}

func harmlessOptions(s string) bool {
	return !slices.ContainsFunc(strings.Fields(s), func(o string) bool { return !slices.Contains(mergeOptions, o) })
}

func isBoolean(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "0", "1":
		return true
	}
	return false
}

// maxHooks is how many names in a directory of hooks are looked at.
const maxHooks = 1000

// installedHooks reports whether a hook could run: whether the directory has an executable
// file that is not a sample.
func installedHooks(dir string) bool {
	entries, err := list(dir, maxHooks)
	if err != nil {
		return exists(dir) && !os.IsNotExist(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".sample") {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil || (info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0) {
			return true
		}
	}
	return false
}

package docker

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// AptSources returns lines for the sources.list of an image that is built on base, from this
// machine's mirrors. It returns none if base is not Debian's, or on a machine without apt.
func AptSources(ctx context.Context, base string) []string {
	suite, _, _ := strings.Cut(strings.TrimPrefix(base, "debian:"), "-")
	if !strings.HasPrefix(base, "debian:") || suite == "" {
		return nil
	}
	return readApt(ctx).sources(suite)
}

// aptSettings are this machine's apt settings for mirrors.
type aptSettings struct {
	targets []aptTarget
	options []string // lines of apt.conf about acquiring
}

// aptTarget is one index apt reads.
type aptTarget struct{ uri, release, codename, origin, component, signedBy string }

const aptFormat = "$(REPO_URI)\t$(RELEASE)\t$(CODENAME)\t$(ORIGIN)\t$(COMPONENT)\t$(SOURCESENTRY)"

// readApt asks apt itself, which reads all its formats. A machine without apt has no
// settings.
func readApt(ctx context.Context) aptSettings {
	var s aptSettings
	targets, err := exec.CommandContext(ctx, "apt-get", "indextargets", "--format", aptFormat, "Created-By: Packages").Output()
	if err == nil {
		s.targets = parseTargets(string(targets), signedBy)
	}
	config, err := exec.CommandContext(ctx, "apt-config", "dump", "--format", `%F "%v";%n`).Output()
	if err == nil {
		s.options = acquireOptions(string(config))
	}
	return s
}

// parseTargets reads the lines of aptFormat. keys returns the keyrings that an entry of apt's sources
// names.
func parseTargets(text string, keys func(entry string) string) []aptTarget {
	var list []aptTarget
	for _, line := range strings.Split(text, "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 6 || f[0] == "" || f[4] == "" {
			continue
		}
		for i := range f {
			if strings.HasPrefix(f[i], "$(") { // apt does not replace names it does not know
				f[i] = ""
			}
		}
		list = append(list, aptTarget{f[0], f[1], f[2], f[3], f[4], keys(f[5])})
	}
	return list
}

// signedBy returns the keyrings that an entry of apt's sources names, separated by commas; "" if it
// names none, or keys in another way. An entry is the path of a file, a colon and a number. apt does
// not tell the keyrings itself.
func signedBy(entry string) string {
	path, number, _ := strings.Cut(entry, ":")
	n, err := strconv.Atoi(number)
	if err != nil {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	keys := keysOfLine(string(data), n)
	if strings.HasSuffix(path, ".sources") {
		keys = keysOfParagraph(string(data), n)
	}
	if slices.ContainsFunc(keys, func(key string) bool { return !strings.HasPrefix(key, "/") }) {
		return ""
	}
	return strings.Join(keys, ",")
}

// keysOfLine returns the keys that a line, numbered from 1, of a .list file names.
func keysOfLine(text string, number int) []string {
	lines := strings.Split(text, "\n")
	if number < 1 || number > len(lines) {
		return nil
	}
	_, options, _ := strings.Cut(lines[number-1], "[")
	options, _, _ = strings.Cut(options, "]")
	for option := range strings.FieldsSeq(options) {
		if value, ok := strings.CutPrefix(option, "signed-by="); ok {
			return strings.Split(value, ",")
		}
	}
	return nil
}

// keysOfParagraph returns the keys that a paragraph, numbered from 1, of a .sources file names.
func keysOfParagraph(text string, number int) []string {
	var keys []string
	at, inside, named := 0, false, false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "#"):
			continue
		case strings.TrimSpace(line) == "":
			inside = false
			continue
		case !inside:
			inside, at = true, at+1
		}
		if at != number {
			continue
		}
		if line[0] != ' ' && line[0] != '\t' {
			var field string
			field, line, _ = strings.Cut(line, ":")
			named = strings.EqualFold(field, "Signed-By")
		}
		if named {
			keys = append(keys, strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == ',' })...)
		}
	}
	return keys
}

// sources returns lines for a sources.list of one Debian suite with its updates, from this machine's
// mirrors; none if the machine has no mirrors. Mirrors have all suites, so a mirror that the machine
// uses for another suite is good enough.
func (s aptSettings) sources(suite string) []string {
	own := func(of string) bool { return of == suite }
	if lines := s.sourcesFrom(suite, own); lines != nil {
		return lines
	}
	return s.sourcesFrom(suite, func(string) bool { return true })
}

// sourcesFrom is sources from the mirrors of those suites that use accepts.
func (s aptSettings) sourcesFrom(suite string, use func(of string) bool) []string {
	var lines []string
	complete := false
	for _, t := range s.targets {
		of := t.codename
		if of == "" {
			of = t.release
		}
		of, part, _ := strings.Cut(of, "-")
		official := t.origin == "Debian" || t.origin == "" && of == suite
		if t.component != "main" || !official || !use(of) || part != "" && part != "updates" && part != "security" {
			continue
		}
		release := suite
		if part != "" {
			release += "-" + part
		}
		complete = complete || part == ""
		options := ""
		if t.signedBy != "" {
			options = "[signed-by=" + t.signedBy + "] "
		}
		line := "deb " + options + t.uri + " " + release + " main"
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if !complete {
		return nil
	}
	return lines
}

// acquireOptions keeps the settings that say how to reach and to trust the
// mirrors: proxies, certificates, retries, validity of snapshots.
func acquireOptions(dump string) []string {
	var list []string
	for _, line := range strings.Split(dump, "\n") {
		name, value, ok := strings.Cut(line, " ")
		if !ok || value == `"";` || strings.HasSuffix(name, "::") {
			continue
		}
		for _, prefix := range []string{
			"Acquire::http::", "Acquire::https::", "Acquire::Check-", "Acquire::Retries", "Acquire::ForceIPv",
		} {
			if strings.HasPrefix(name, prefix) {
				list = append(list, line)
				break
			}
		}
	}
	return list
}

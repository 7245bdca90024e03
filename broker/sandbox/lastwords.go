package sandbox

import (
	"cmp"
	"regexp"
	"strings"
)

var (
	// noise matches the lines that a runtime adds to an error: the stack trace and the runtime's
	// version.
	noise = regexp.MustCompile(`^(?:[{}\[\]^]+|at .*|Node\.js v\S+)$`)
	// thrown matches the line that names an uncaught error.
	thrown = regexp.MustCompile(`^(?:Uncaught )?\w*(?:Error|Exception)(?: \[\w+\])?: .`)
	// fromNPM matches a line of an error of npm or npx, which ends with advice. Its first lines are
	// details without a sentence.
	fromNPM   = regexp.MustCompile(`^npm (?:error|ERR!)(?: |$)`)
	npmDetail = regexp.MustCompile(`^npm (?:error|ERR!)(?: (?:code|syscall|errno|path|dest) .*|\s*)$`)
)

// LastWords returns the line of standard error that best explains why the server ended, or "".
func (p *Process) LastWords() string { return lastWords(p.Stderr()) }

// lastWords returns the last line that explains something: not a property of an error, which is
// indented, and of an error with a stack trace the message.
func lastWords(text string) string {
	var message, property, last string
	traced := false
	lines := strings.Split(text, "\n")
	if words := ofNPM(strings.Split(strings.TrimSpace(text), "\n")); words != "" {
		return words
	}
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		last = cmp.Or(last, line)
		switch {
		case noise.MatchString(line):
			traced = traced || strings.HasPrefix(line, "at ")
		case line == "" && message != "":
			return message
		case thrown.MatchString(line):
			return line
		case strings.HasPrefix(lines[i], " ") || strings.HasPrefix(lines[i], "\t"):
			property = cmp.Or(property, line)
		case line != "" && !traced:
			return line
		default: // the message above the trace may have several lines
			message = cmp.Or(message, line)
		}
	}
	return cmp.Or(message, property, last)
}

// ofNPM returns the line of an error of npm that says what failed; "" if the last line is not of one.
func ofNPM(lines []string) string {
	if !fromNPM.MatchString(lines[len(lines)-1]) {
		return ""
	}
	for _, line := range lines {
		if fromNPM.MatchString(line) && !npmDetail.MatchString(line) {
			return line
		}
	}
	return ""
}

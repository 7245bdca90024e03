package sandbox

import (
	"cmp"
	"regexp"
	"strings"
)

var (
	// noise are the lines with which a runtime decorates an error: where it was
	// thrown, and its own version.
	noise = regexp.MustCompile(`^(?:[{}\[\]^]+|at .*|Node\.js v\S+)$`)
	// thrown is the line that names an error which nothing caught.
	thrown = regexp.MustCompile(`^(?:Uncaught )?\w*(?:Error|Exception)(?: \[\w+\])?: .`)
)

// LastWords is the line of the error output that tells best why the server
// ended, or "".
func (p *Process) LastWords() string { return lastWords(p.Stderr()) }

// lastWords finds the last line that says something: not the properties of an
// error, which are indented, and of an error with a stack trace its message.
func lastWords(text string) string {
	var message, aside, end string
	traced := false
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		line := strings.TrimSpace(lines[i])
		end = cmp.Or(end, line)
		switch {
		case noise.MatchString(line):
			traced = traced || strings.HasPrefix(line, "at ")
		case line == "" && message != "":
			return message
		case thrown.MatchString(line):
			return line
		case strings.HasPrefix(lines[i], " ") || strings.HasPrefix(lines[i], "\t"):
			aside = cmp.Or(aside, line)
		case line != "" && !traced:
			return line
		default: // the message above the trace may have several lines
			message = cmp.Or(message, line)
		}
	}
	return cmp.Or(message, aside, end)
}

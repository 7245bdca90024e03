package scripted

import (
	"fmt"
	"strconv"
	"strings"
)

// verb is what an order asks for.
type verb string

const (
	verbRead  verb = "read"
	verbWrite verb = "write"
	verbList  verb = "list"
	verbPush  verb = "push"
	verbRun   verb = "run"
	verbBatch verb = "batch"
	verbSay   verb = "say"
)

// Order describes one order that the script understands, for help texts.
type Order struct {
	Usage string // "read PATH"
	Does  string // "reads a file"
}

// Orders lists what can be typed, in the order in which people should try it.
func Orders() []Order {
	return []Order{
		{"read PATH", "reads a file"},
		{"write PATH TEXT", "writes a file"},
		{"list PATH", "lists a directory"},
		{"push", "pushes the git branch"},
		{"push … to REMOTE", "pushes it to that remote"},
		{"run COMMAND", "runs it in the container, by the agent's own tool"},
		{"say TEXT", "says the text, without a tool"},
		{"batch N", "reads hello.txt N times in one program; it needs a tool that runs programs"},
		{"batch N PATH", "does the same, and writes PATH in the middle"},
	}
}

// maxBatch is how often one program reads at most.
const maxBatch = 500

// order is one line of a prompt that was understood.
type order struct {
	verb verb
	path string // of read, write and list; of batch: what is written, too
	text string // of write and say; of run: the command
	to   string // of push: the remote; empty for the usual one
	n    int    // of batch: how many calls
}

// parseOrder reads an order from a prompt. It returns false when the prompt is no order. An error
// means that the prompt begins like an order, and says what is missing.
func parseOrder(prompt string) (order, bool, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(prompt), " ")
	rest = strings.TrimSpace(rest)
	switch v := verb(strings.ToLower(word)); v {
	case verbRead, verbList:
		return parsePathOrder(v, rest)
	case verbWrite:
		path, text, ok := cutPath(rest)
		if !ok || text == "" {
			return order{}, true, fmt.Errorf("write needs a path and a text: write PATH TEXT")
		}
		return order{verb: v, path: path, text: text}, true, nil
	case verbPush:
		to, ok := pushTarget(rest)
		if !ok {
			return order{}, false, nil
		}
		return order{verb: v, to: to}, true, nil
	case verbSay:
		if rest == "" {
			return order{}, true, fmt.Errorf("say needs a text: say TEXT")
		}
		return order{verb: v, text: rest}, true, nil
	case verbRun:
		if rest == "" {
			return order{}, true, fmt.Errorf("run needs a command: run COMMAND")
		}
		return order{verb: v, text: rest}, true, nil
	case verbBatch:
		number, rest, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > maxBatch {
			return order{}, true, fmt.Errorf("batch needs a number from 1 to %d: batch N", maxBatch)
		}
		return order{verb: v, n: n, path: strings.TrimSpace(rest)}, true, nil
	}
	return order{}, false, nil
}

// pushTarget reads the remote at the end of "my changes to origin". Without a remote nothing else
// may follow push.
func pushTarget(rest string) (remote string, ok bool) {
	if rest == "" {
		return "", true
	}
	words := strings.Fields(strings.TrimRight(rest, ".!"))
	if n := len(words); n >= 2 && strings.EqualFold(words[n-2], "to") {
		return words[n-1], true
	}
	return "", false
}

// parsePathOrder reads the orders that take one path. More words than one path
// make a sentence ("read the manual"), which is no order.
func parsePathOrder(v verb, rest string) (order, bool, error) {
	if rest == "" {
		return order{}, true, fmt.Errorf("%s needs a path: %s PATH", v, v)
	}
	path, more, ok := cutPath(rest)
	if !ok {
		return order{}, true, fmt.Errorf("the quoted path does not end: %s \"PATH\"", v)
	}
	if more != "" {
		return order{}, false, nil
	}
	return order{verb: v, path: path}, true, nil
}

// cutPath cuts one path off the front of s: a word, or anything between double quotes. It returns
// false for an empty path and for quotes that do not close.
func cutPath(s string) (path, rest string, ok bool) {
	if quoted, found := strings.CutPrefix(s, `"`); found {
		path, rest, ok = strings.Cut(quoted, `"`)
		return path, strings.TrimSpace(rest), ok && path != ""
	}
	if i := strings.IndexAny(s, " \t\r\n"); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:]), true
	}
	return s, "", s != ""
}

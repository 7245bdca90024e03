package scripted

import (
	"fmt"
	"strings"
)

// answer is what the script says: a text, a tool call, or both in this order.
type answer struct {
	text   string
	call   *call
	search string // instead of a call: words to search a tool by
}

// call is one tool call.
type call struct {
	space string // the group of the tool, where the provider has groups
	tool  string
	input map[string]any
	code  bool // it is called by a program
}

// reply decides what the script answers. It is a pure function: the same
// conversation always gets the same answer.
func reply(c *conversation) answer {
	if text, ok := sideAnswer(c); ok {
		return answer{text: text}
	}
	a := decide(c)
	a.text = c.before + a.text
	return a
}

// decide answers the last thing that the person said.
func decide(c *conversation) answer {
	o, found, err := c.order()
	switch {
	case err != nil:
		return answer{text: "That order is not complete: " + err.Error() + ". I am a script, not a language model."}
	case !found && c.picture != "":
		return answer{text: "I was shown a picture: " + c.picture + "."}
	case !found:
		return answer{text: introduction()}
	case o.verb == verbSay:
		return answer{text: o.text}
	case len(c.results) > 0:
		return answer{text: report(o, c.results[len(c.results)-1])}
	}
	made, err := c.call(o)
	if err != nil && c.search {
		return answer{text: fmt.Sprintf("I will look for the tool to %s.", o), search: strings.Join(o.verb.toolNames(), " ")}
	}
	if err != nil {
		return answer{text: fmt.Sprintf("I cannot %s: %v.", o, err)}
	}
	return answer{text: fmt.Sprintf("I will %s.", o), call: made}
}

// String is the order as a clause: "read notes.txt".
func (o order) String() string {
	switch o.verb {
	case verbRead, verbList:
		return string(o.verb) + " " + o.path
	case verbWrite:
		if n := len([]rune(o.text)); n != 1 {
			return fmt.Sprintf("write %d characters to %s", n, o.path)
		}
		return "write 1 character to " + o.path
	case verbPush:
		return "push the git branch"
	case verbSay, verbRun:
		return string(o.verb) + " " + o.text
	case verbBatch:
		return fmt.Sprintf("read %s %d times in one program", batchFile, o.n)
	}
	return string(o.verb)
}

// introduction says what is speaking and what it can do.
func introduction() string {
	var b strings.Builder
	b.WriteString("I am a script, not a language model: this is demo mode, and everything but me is real. I understand these orders, one line each:\n\n")
	for _, o := range Orders() {
		fmt.Fprintf(&b, "- `%s` %s\n", o.Usage, o.Does)
	}
	b.WriteString("\nEach of them except say and batch is exactly one tool call. The policy judges it, except for run: what happens inside the container needs no judge.")
	return b.String()
}

// The longest quotation from a tool's result, in characters.
const longestQuote = 400

// report says how a call ended and quotes what came back.
func report(o order, r result) string {
	text := quote(r.text)
	if !r.failed {
		if text == "" {
			return fmt.Sprintf("Done: %s. The tool returned nothing to show.", o)
		}
		return fmt.Sprintf("Done: %s. The tool returned:\n\n%s", o, text)
	}
	if text == "" {
		text = "> (no reason was given)"
	}
	return fmt.Sprintf("I could not %s: the call %s. I was told:\n\n%s", o, refusal(r.text), text)
}

// refusal names the way in which a failed call failed, from the words of the
// error: the agent learns no more than that either.
func refusal(text string) string {
	text = strings.ToLower(text)
	for _, way := range []struct{ words, means string }{
		{"expired|timed out|nobody answered|no decision", "waited for a person and nobody decided in time"},
		{"withdrawn|cancelled|canceled", "was withdrawn"},
		{"escalation denied|denied by a person|person denied|denied by the person", "was denied by a person"},
		{"denied|refused|not allowed|forbidden|not permitted", "was denied"},
	} {
		for word := range strings.SplitSeq(way.words, "|") {
			if strings.Contains(text, word) {
				return way.means
			}
		}
	}
	return "failed"
}

// quote trims a result and marks every line of it as quoted.
func quote(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	if r := []rune(s); len(r) > longestQuote {
		s = strings.TrimSpace(string(r[:longestQuote])) + " …"
	}
	return "> " + strings.ReplaceAll(s, "\n", "\n> ")
}

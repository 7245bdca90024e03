package autoapprove

import "strings"

// verb is an operation that can be ordered.
type verb string

// The operations.
const (
	push          verb = "push"
	deleteBranch  verb = "delete branch"
	fetch         verb = "fetch"
	pull          verb = "pull"
	clone         verb = "clone"
	readFile      verb = "read"
	list          verb = "list"
	makeDirectory verb = "make directory"
	write         verb = "write"
	overwrite     verb = "overwrite"
	edit          verb = "edit"
	move          verb = "move"
	web           verb = "open page"
	chore         verb = "chore" // local work that needs no approval
)

// order is what one clause of a text orders.
type order struct {
	verb   verb
	paths  []string
	url    string
	remote string // name, host or address
	branch string // the local one; empty: the one that is checked out
	target string // at the remote; empty: of the same name
	flags  flags
}

// flags are the parts of an order beside its target.
type flags struct {
	force, lease, tags, onlyTags bool // of a push
	rebase, prune                bool // of a pull or a fetch; tags too
	deep                         bool // of a list: everything below
}

var (
	fillers  = set(`please now then next finally also just ok okay yes great good right go ahead and , kindly`)
	praise   = set(`thanks thank you great good nice work job perfect all well done cool awesome excellent ok okay yes fine looks that this it is`)
	trailers = set(`please now thanks thank you for me right away immediately`)
	joiners  = set(`and then , also plus`)
)

// skip leaves out leading words of a set.
func skip(words []string, s map[string]bool) []string {
	for len(words) > 0 && s[strings.ToLower(words[0])] {
		words = words[1:]
	}
	return words
}

// skipEnd leaves out trailing words of a set.
func skipEnd(words []string, s map[string]bool) []string {
	for len(words) > 0 && s[strings.ToLower(words[len(words)-1])] {
		words = words[:len(words)-1]
	}
	return words
}

// readSentence reads a sentence as a list of orders. It reports false when any part is
// something else. A sentence of fillers alone orders nothing.
func readSentence(words []string) ([]order, bool) {
	if len(skip(words, praise)) == 0 {
		return nil, true
	}
	words = skipEnd(skip(words, fillers), trailers)
	if len(words) == 0 {
		return nil, true
	}
	// The longest clause that is an order comes first, so that "push main and
	// the tags to origin" is one.
	for end := len(words); end > 0; end-- {
		if end < len(words) && !joiners[strings.ToLower(words[end])] {
			continue
		}
		o, ok := readClause(skipEnd(words[:end], trailers))
		if !ok {
			continue
		}
		rest, ok := readSentence(words[end:])
		if !ok {
			continue
		}
		if o.verb != chore {
			rest = append([]order{o}, rest...)
		}
		return rest, true
	}
	return nil, false
}

// readClause reads one order.
func readClause(words []string) (order, bool) {
	for _, w := range words {
		if strings.Contains(w, paste) {
			return order{}, false
		}
	}
	for _, reader := range []func(*clause) (order, bool){
		readPush, readDelete, readReceive, readClone, readFiles, readList, readMake, readWrite, readEdit, readMove, readWeb, readChore,
	} {
		c := &clause{words: words}
		if o, ok := reader(c); ok && c.done() {
			return o, true
		}
	}
	return order{}, false
}

// clause is a list of words that is read from the left.
type clause struct{ words []string }

func (c *clause) done() bool { return len(c.words) == 0 }

// peek is the next word in lower case.
func (c *clause) peek() string {
	if c.done() {
		return ""
	}
	return strings.ToLower(c.words[0])
}

// take returns the next word as it was written.
func (c *clause) take() string {
	if c.done() {
		return ""
	}
	w := c.words[0]
	c.words = c.words[1:]
	return w
}

// word takes the next word when it is one of those given.
func (c *clause) word(words ...string) bool {
	for _, w := range words {
		if !c.done() && c.peek() == w {
			c.words = c.words[1:]
			return true
		}
	}
	return false
}

// phrase takes these words when they come next, in this order.
func (c *clause) phrase(words ...string) bool {
	if len(c.words) < len(words) {
		return false
	}
	for i, w := range words {
		if strings.ToLower(c.words[i]) != w {
			return false
		}
	}
	c.words = c.words[len(words):]
	return true
}

// ahead reports whether these words come next, in this order.
func (c *clause) ahead(words ...string) bool {
	return (&clause{words: c.words}).phrase(words...)
}

// skipAll takes all next words that are in a set.
func (c *clause) skipAll(s map[string]bool) { c.words = skip(c.words, s) }

// readChore reads local work: committing, testing, formatting. Such an order needs no
// approval.
func readChore(c *clause) (order, bool) {
	c.word("git")
	if c.word("summarize", "analyze", "compare") {
		c.skipAll(set(`it them this these both the content contents files file for me`))
		return order{verb: chore}, true
	}
	if !c.word("commit", "stage", "add", "test", "build", "format", "lint", "run") {
		return order{}, false
	}
	c.skipAll(set(`my the all these this it everything changes change work files tests test suite build linter formatter code them up locally current latest your`))
	return order{verb: chore}, true
}

package autoapprove

import (
	"fmt"
	"strings"
)

// maxText bounds the text that is read as orders, in bytes.
const maxText = 2000

// paste replaces pasted text.
const paste = "\ufffc"

// unsure are words that make an order doubtful: negations, conditions, delays, questions,
// and talk about orders.
var unsure = set(`
	no not never none nothing nobody dont don't doesnt doesn't didnt didn't cannot can't cant won't wont isn't isnt aren't arent shouldn't
	shouldnt wouldn't couldn't without unless except but only instead rather than neither nor hardly
	if whether when whenever once while until till before after afterwards later tomorrow tonight soon eventually someday yet
	would should could might may can shall must ought will do does did is are was were be been being has have had
	why how what which who whose where whom
	ask confirm wait hold stop cancel abort undo revert avoid forbid refuse skip ignore forget check verify
	say says said saying tell tells told talk explain explains describe describes document documents documentation mention write-up
	pretend imagine suppose assume example examples e.g i.e eg ie like as-if hypothetically simulate simulation
	plan planning draft drafts propose suggest consider think maybe perhaps probably possibly actually
	script scripts hook hooks workflow workflows button alias command commands instructions instruction section sentence line lines
	following below above here title titles message messages text phrase word words quote quotes called named label comment comments
	tutorial guide issue ticket prompt step steps they he she someone anybody everybody
	want wants wanted like need needs going gonna let lets let's ready able possible allowed
`)

// openers are words with which a free sentence before an order may begin.
var openers = set(`fix update add run commit test build refactor implement remove rename change improve clean merge rebase bump format lint
	finish simplify replace extend move sort tidy make`)

// pointing are words that may refer to what comes next.
var pointing = set(`this these that those it so`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// read reads the orders of a text. A sentence with an order must contain nothing else. Plain
// sentences may come before it, and only thanks after it. Anything else makes the whole text
// unclear.
func read(said []Part) ([]order, error) {
	var b strings.Builder
	typed := false
	for _, p := range said {
		if p.Pasted {
			b.WriteString(paste)
			continue
		}
		typed = typed || strings.TrimSpace(p.Text) != ""
		b.WriteString(p.Text)
	}
	text := b.String()
	switch {
	case !typed:
		return nil, fmt.Errorf("nothing was typed")
	case len(text) > maxText:
		return nil, fmt.Errorf("the text is too long to be an order")
	case strings.ContainsAny(text, "\"'`“”„«»‘’<>{}[]()|\\*_#?") && hasMark(text):
		return nil, fmt.Errorf("the text has quotes, brackets, a question or similar marks")
	}
	sentences := split(text)
	for _, s := range sentences {
		if err := certain(s); err != nil {
			return nil, err
		}
	}
	for i, s := range sentences {
		orders, ok := readSentence(s)
		if ok && len(orders) == 0 {
			continue // thanks, or local work
		}
		if !ok {
			if free(s) {
				continue
			}
			if i > 0 {
				return nil, fmt.Errorf("something else follows the order")
			}
			return nil, fmt.Errorf("the text is not an order that is understood completely")
		}
		for _, rest := range sentences[i+1:] {
			more, ok := readSentence(rest)
			if !ok {
				return nil, fmt.Errorf("something else follows the order")
			}
			orders = append(orders, more...)
		}
		return orders, nil
	}
	return nil, fmt.Errorf("the text names no operation with its target")
}

// hasMark reports whether one of the marks occurs outside of addresses and paths, in which
// some marks are ordinary.
func hasMark(text string) bool {
	for w := range strings.FieldsSeq(text) {
		if strings.ContainsAny(w, "\"'`“”„«»‘’<>{}[]()|\\*") {
			return true
		}
		w = strings.TrimRight(w, ".,;!")
		if strings.ContainsAny(w, "#?_") && !strings.Contains(w, "://") && !isPath(w) && !strings.Contains(strings.Trim(w, "_"), "_") {
			return true
		}
		if strings.HasSuffix(w, "?") {
			return true
		}
	}
	return false
}

// split cuts a text into sentences of words. A line end alone does not end a sentence.
func split(text string) [][]string {
	var all [][]string
	var s []string
	for field := range strings.FieldsSeq(strings.ReplaceAll(text, ",", " , ")) {
		word := strings.TrimRight(field, ".;!")
		if word != "" {
			s = append(s, word)
		}
		if word != field && len(s) > 0 {
			all, s = append(all, s), nil
		}
	}
	if len(s) > 0 {
		all = append(all, s)
	}
	return all
}

// certain refuses a sentence with a word that makes orders doubtful.
func certain(sentence []string) error {
	for _, w := range sentence {
		low := strings.ToLower(w)
		if unsure[low] || strings.HasSuffix(low, "n't") {
			return fmt.Errorf("the word %q leaves open what is wanted", low)
		}
		if strings.HasSuffix(w, ":") {
			return fmt.Errorf("the text introduces something with a colon")
		}
		for _, r := range strings.ReplaceAll(w, paste, "") {
			if r < ' ' || r > '~' {
				return fmt.Errorf("the text has characters beyond plain ASCII")
			}
		}
	}
	return nil
}

// free reports whether a sentence may stand before an order: a plain order of
// another kind.
func free(sentence []string) bool {
	words := skip(sentence, fillers)
	for _, w := range words {
		if pointing[strings.ToLower(w)] {
			return false
		}
	}
	return len(words) > 0 && len(words) <= 25 && openers[strings.ToLower(words[0])] && !strings.Contains(strings.Join(words, " "), paste)
}

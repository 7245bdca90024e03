package receipt

import (
	"strconv"
	"strings"
	"unicode"
)

// Numbers below this can be written as words.
var numberWords = map[string]int{
	"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
	"eight": 8, "nine": 9, "ten": 10,
}

// things are what calls are made on, one each: "3 files" is three approvals,
// while a number before anything else ("issue 42", "50 lines") says nothing about
// how often something may be done.
var things = map[string]bool{
	"times": true, "calls": true, "files": true, "directories": true, "folders": true,
	"paths": true, "pages": true, "urls": true, "links": true, "sites": true, "requests": true,
	"fetches": true, "pushes": true, "pulls": true, "clones": true, "writes": true, "reads": true,
	"edits": true, "branches": true, "remotes": true, "repositories": true, "repos": true,
}

// between are the words that may stand between a number or "all" and a thing.
var between = map[string]bool{"the": true, "these": true, "those": true, "of": true, "my": true, "more": true}

// uses reads how many approvals a text is good for: none when nothing was typed,
// one when it names no number, else the largest it names. "all", said of things
// that calls are made on, is as many as there can be. "push all my changes" is
// one push, so it names none.
func uses(typed []string) int {
	n := 0
	for _, span := range typed {
		if strings.TrimSpace(span) != "" {
			n = max(n, 1, named(words(span)))
		}
	}
	return min(n, maxUses)
}

// named is the largest number of approvals the words name, or 0.
func named(words []string) int {
	largest := 0
	for i, w := range words {
		switch {
		case w == "twice":
			largest = max(largest, 2)
		case w == "all" && thingFollows(words[i+1:]):
			largest = maxUses
		default:
			if n := number(w); n > 0 && thingFollows(words[i+1:]) {
				largest = max(largest, n)
			}
		}
	}
	return largest
}

// thingFollows reports whether the next word, apart from articles, is a thing.
func thingFollows(words []string) bool {
	for i, w := range words {
		if things[w] {
			return true
		}
		if i > 2 || !between[w] && number(w) == 0 {
			return false
		}
	}
	return false
}

// number reads a whole number above zero in digits or as a word; 0 is none.
func number(w string) int {
	if n, ok := numberWords[w]; ok {
		return n
	}
	n, err := strconv.Atoi(w)
	if err != nil || n < 1 || w[0] < '1' || w[0] > '9' {
		return 0
	}
	return min(n, maxUses)
}

// words splits a text at everything that is no letter, digit or part of a path
// or a name, so that "3.files" or "v2-files" is no number of files. A mark that
// ends a sentence stays a word of its own.
func words(text string) []string {
	var out []string
	for _, field := range strings.FieldsFunc(strings.ToLower(text), unicode.IsSpace) {
		word := strings.TrimRight(field, ".,;:!?")
		if word != "" {
			out = append(out, word)
		}
		if word != field {
			out = append(out, field[len(word):])
		}
	}
	return out
}

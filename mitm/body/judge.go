package body

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// judge walks a body and collects what to change.
type judge struct {
	reader
	router       bool // OpenRouter's additions apply
	model        string
	others       []string // models that may answer in its place
	most         int64    // tokens of an answer
	answers      int64    // that are asked for; 0 when the body does not say
	settings     int      // bytes that are no part of the conversation
	free         int      // bytes inside settings that are one
	edits        []edit
	removed      []string
	removedNames map[string]bool // names of tools that were taken out
	keptNames    map[string]bool // names of tools that stay
	choice       string          // name of the tool that the request insists on
}

func (j *judge) run(data []byte, rules func(*judge) error) error {
	if err := j.begin(data); err != nil {
		return err
	}
	if j.Peek() != '{' {
		return errors.New("it is not an object")
	}
	if err := rules(j); err != nil {
		return err
	}
	if err := j.finish(); err != nil {
		return err
	}
	if j.choice != "" && j.removedNames[j.choice] && !j.keptNames[j.choice] {
		return refuse("tool_choice names a tool that the provider would run.")
	}
	return nil
}

// members walks the object at the cursor. For each member it calls each with
// the key; each must read the value. A key that is not one of names but could
// be taken for one by a lenient parser is refused.
func (j *judge) members(names []string, each func(key string) error) error {
	return j.object(func(key string) error {
		if !slices.Contains(names, key) {
			for _, name := range names {
				if alike(key, name) {
					return fmt.Errorf("the key %q is spelled in another way than %q", clip(key), name)
				}
			}
		}
		return each(key)
	})
}

// alike says whether lenient parsers take two keys for each other.
func alike(a, b string) bool {
	for {
		var x, y rune
		x, a = letter(a)
		if y, b = letter(b); x != y {
			return false
		}
		if x == 0 {
			return true
		}
	}
}

// letter returns the first letter of a key, as lenient parsers compare it, and what
// stands behind; 0 at the end.
func letter(key string) (rune, string) {
	for i, r := range key {
		switch {
		case r == '_' || r == '-':
			continue
		case r == 'ſ': // folds to s
			return 's', key[i+len("ſ"):]
		case r == 'ı' || r == 'İ': // become I and i where case is changed letter by letter
			return 'i', key[i+len("ı"):]
		case r == '\u212a': // the Kelvin sign folds to k
			return 'k', key[i+len("\u212a"):]
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A', key[i+1:]
		}
		return r, key[i+utf8.RuneLen(r):]
	}
	return 0, ""
}

// text reads a string; what names the value in an error.
func (j *judge) text(what string) (string, error) {
	if j.Peek() != '"' {
		return "", fmt.Errorf("%s is not a string", what)
	}
	return j.str()
}

// absent reads a value that must be null, false or empty; anything else is
// refused with the given words.
func (j *judge) absent(words string) error {
	start := j.Pos()
	if err := j.skip(); err != nil {
		return err
	}
	value := j.Since(start)
	switch strings.Join(strings.Fields(string(value[:min(len(value), 64)])), "") {
	case "null", "false", "[]", "{}", `""`:
		return nil
	}
	return refuse("%s", words)
}

// remote refuses a string that makes the provider fetch something; only data
// that is contained in the request passes.
func remote(url, what string) error {
	if strings.HasPrefix(url, "data:") {
		return nil
	}
	return refuse("%s would make the provider fetch a URL; send the data itself.", what)
}

// present refuses a member whose mere presence, even empty, means something.
func (j *judge) present(words string) error {
	start := j.Pos()
	if err := j.skip(); err != nil {
		return err
	}
	if string(j.Since(start)) == "null" {
		return nil
	}
	return refuse("%s", words)
}

// messages walks an array of messages. What stands under the given keys read reads.
func (j *judge) messages(read func() error, keys ...string) error {
	if j.Peek() != '[' {
		return errors.New("messages is not an array")
	}
	return j.array(func() error {
		if j.Peek() != '{' {
			return errors.New("messages holds something that is not an object")
		}
		return j.members(keys, func(key string) error {
			if slices.Contains(keys, key) {
				return read()
			}
			return j.label(key)
		})
	})
}

// readModel reads the name of the model.
func (j *judge) readModel() (err error) {
	if j.model, err = j.text("model"); err != nil {
		return err
	}
	return j.checkModel(j.model)
}

// mostOthers is how many models a request may name beside its own: more than the
// providers take.
const mostOthers = 32

// readOther reads the name of a model that may answer in the place of the first.
func (j *judge) readOther() error {
	name, err := j.text("the name of a model")
	if err != nil {
		return err
	}
	if len(j.others) == mostOthers {
		return fmt.Errorf("it names more than %d further models", mostOthers)
	}
	j.others = append(j.others, name)
	return j.checkModel(name)
}

// readMost reads how many tokens an answer may have. Nothing is allowed or refused by
// it: what is no plain number is left to the provider, and may be as many as there are.
func (j *judge) readMost() error {
	n, null, err := j.wholeNumber()
	switch {
	case err != nil:
		return err
	case null:
	case n < 0:
		j.most = math.MaxInt64
	default:
		j.most = max(j.most, n)
	}
	return nil
}

// wholeNumber reads a value that is to be a whole number or null. Anything else is -1.
func (j *judge) wholeNumber() (n int64, null bool, err error) {
	start := j.Pos()
	if err := j.bounded("a number", nil); err != nil {
		return 0, false, err
	}
	text := string(j.Since(start))
	if n, err = strconv.ParseInt(text, 10, 64); err != nil {
		n = -1
	}
	return n, text == "null", nil
}

// mostAnswers is how many answers a request may ask for, as the providers have it.
const mostAnswers = 128

// readAnswers reads how many answers are asked for. Each may be as long as a single one.
func (j *judge) readAnswers(key string) error {
	n, null, err := j.wholeNumber()
	switch {
	case err != nil:
		return err
	case null:
	case n < 1 || n > mostAnswers:
		return fmt.Errorf("%s is no whole number from 1 to %d", key, mostAnswers)
	default:
		j.answers = max(j.answers, n)
	}
	return nil
}

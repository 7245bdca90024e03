package body

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// judge walks a body and collects what to change.
type judge struct {
	reader
	router       bool // OpenRouter's additions apply
	model        string
	most         int64 // tokens of an answer
	answers      int64 // that are asked for; 0 when the body does not say
	edits        []edit
	removed      []string
	removedNames map[string]bool // names of tools that were taken out
	keptNames    map[string]bool // names of tools that stay
	choice       string          // name of the tool that the request insists on
}

func (j *judge) run(rules func(*judge) error) error {
	if err := j.begin(); err != nil {
		return err
	}
	if j.peek() != '{' {
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
			plain := fold(key)
			for _, name := range names {
				if plain == fold(name) {
					return fmt.Errorf("the key %q is spelled in another way than %q", clip(key), name)
				}
			}
		}
		return each(key)
	})
}

// fold maps spellings of a key that lenient parsers take for each other to the
// same text.
func fold(key string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_' || r == '-':
			return -1
		case r == 'ſ': // folds to s
			return 's'
		case r == '\u212a': // the Kelvin sign folds to k
			return 'k'
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, key)
}

// text reads a string; what names the value in an error.
func (j *judge) text(what string) (string, error) {
	if j.peek() != '"' {
		return "", fmt.Errorf("%s is not a string", what)
	}
	return j.str()
}

// texts walks a value that must be an array of strings.
func (j *judge) texts(what string, each func(string) error) error {
	if j.peek() != '[' {
		return fmt.Errorf("%s is not an array", what)
	}
	return j.array(func() error {
		s, err := j.text(what)
		if err != nil {
			return err
		}
		return each(s)
	})
}

// absent reads a value that must be null, false or empty; anything else is
// refused with the given words.
func (j *judge) absent(words string) error {
	start := j.pos
	if err := j.skip(); err != nil {
		return err
	}
	switch strings.Join(strings.Fields(string(j.data[start:min(j.pos, start+64)])), "") {
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
	start := j.pos
	if err := j.skip(); err != nil {
		return err
	}
	if string(j.data[start:j.pos]) == "null" {
		return nil
	}
	return refuse("%s", words)
}

// messages walks an array of messages, whose content read reads.
func (j *judge) messages(read func() error) error {
	if j.peek() != '[' {
		return errors.New("messages is not an array")
	}
	return j.array(func() error {
		if j.peek() != '{' {
			return errors.New("messages holds something that is not an object")
		}
		return j.members([]string{"content"}, func(key string) error {
			if key == "content" {
				return read()
			}
			return j.skip()
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
	start := j.pos
	if err := j.skip(); err != nil {
		return 0, false, err
	}
	text := string(j.data[start:j.pos])
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

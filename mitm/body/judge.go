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

// judge reads a body and collects the edits to make.
type judge struct {
	reader
	router       bool // OpenRouter's additions apply
	model        string
	others       []string // models that may answer instead
	maxTokens    int64    // how many tokens the body allows for one answer
	answers      int64    // how many answers the body asks for; 0 if it does not say
	settings     int      // bytes outside the conversation
	uncounted    int      // bytes inside settings that do not count, because the model reads them
	edits        []edit
	removed      []string
	removedNames map[string]bool // names of removed tools
	keptNames    map[string]bool // names of kept tools
	choice       string          // name of the tool that tool_choice demands
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

// members reads the object at the cursor. It calls each with every key; each must read the
// value. It refuses a key that is not in names but that a lenient parser could read as one
// of them.
func (j *judge) members(names []string, each func(key string) error) error {
	return j.object(func(key string) error {
		if !slices.Contains(names, key) {
			for _, name := range names {
				if alike(key, name) {
					return fmt.Errorf("the key %q could be mistaken for %q", clip(key), name)
				}
			}
		}
		return each(key)
	})
}

// alike reports whether a lenient parser could confuse two keys.
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

// letter returns the first letter of a key, as lenient parsers compare it, and the rest of
// the key. At the end it returns 0.
func letter(key string) (rune, string) {
	for i, r := range key {
		switch {
		case r == '_' || r == '-':
			continue
		case r == 'ſ': // folds to s
			return 's', key[i+len("ſ"):]
		case r == 'ı' || r == 'İ': // change to I and i when the case of single letters is changed
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

// text reads a string. what names the value in an error.
func (j *judge) text(what string) (string, error) {
	if j.Peek() != '"' {
		return "", fmt.Errorf("%s is not a string", what)
	}
	return j.str()
}

// mustBeEmpty reads a value that must be null, false or empty. It refuses any other value with
// the given text.
func (j *judge) mustBeEmpty(text string) error {
	start := j.Pos()
	if err := j.skip(); err != nil {
		return err
	}
	value := j.Since(start)
	switch strings.Join(strings.Fields(string(value[:min(len(value), 64)])), "") {
	case "null", "false", "[]", "{}", `""`:
		return nil
	}
	return refuse("%s", text)
}

// refuseRemote refuses a URL that the provider would fetch. Only data URLs pass.
func refuseRemote(url, what string) error {
	if strings.HasPrefix(url, "data:") {
		return nil
	}
	return refuse("%s would make the provider fetch a URL; send the data itself.", what)
}

// mustBeNull reads a value that must be null. It is for members that have an effect even if
// they are empty.
func (j *judge) mustBeNull(text string) error {
	start := j.Pos()
	if err := j.skip(); err != nil {
		return err
	}
	if string(j.Since(start)) == "null" {
		return nil
	}
	return refuse("%s", text)
}

// messages reads an array of messages. read reads the values of the given keys.
func (j *judge) messages(read func() error, keys ...string) error {
	if j.Peek() != '[' {
		return errors.New("messages is not an array")
	}
	return j.array(func() error {
		if j.Peek() != '{' {
			return errors.New("messages contains something that is not an object")
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

// maxOthers is how many further models a request may name. Providers accept fewer.
const maxOthers = 32

// readOther reads the name of a model that may answer instead of the first.
func (j *judge) readOther() error {
	name, err := j.text("the name of a model")
	if err != nil {
		return err
	}
	if len(j.others) == maxOthers {
		return fmt.Errorf("it names more than %d further models", maxOthers)
	}
	j.others = append(j.others, name)
	return j.checkModel(name)
}

// readMaxTokens reads how many tokens an answer may have. It refuses no value: the provider
// decides about a value that is not a plain number, so that counts as unlimited.
func (j *judge) readMaxTokens() error {
	n, null, err := j.wholeNumber()
	switch {
	case err != nil:
		return err
	case null:
	case n < 0:
		j.maxTokens = math.MaxInt64
	default:
		j.maxTokens = max(j.maxTokens, n)
	}
	return nil
}

// wholeNumber reads a whole number or null. For any other value it returns -1.
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

// maxAnswers is how many answers a request may ask for, the providers' own limit.
const maxAnswers = 128

// readAnswers reads how many answers the request asks for. Each may have the full length.
func (j *judge) readAnswers(key string) error {
	n, null, err := j.wholeNumber()
	switch {
	case err != nil:
		return err
	case null:
	case n < 1 || n > maxAnswers:
		return fmt.Errorf("%s is not a whole number from 1 to %d", key, maxAnswers)
	default:
		j.answers = max(j.answers, n)
	}
	return nil
}

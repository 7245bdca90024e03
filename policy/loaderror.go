package policy

import (
	"fmt"
)

// LoadError says what is wrong with a policy, annotation or list file.
type LoadError struct {
	File  string // as the caller named it
	Line  int    // from 1; 0 means the whole file
	Place string // such as rules[3].if.paths.within
	Err   error
	hint  string
}

func (e *LoadError) Error() string {
	s := e.File
	if e.Line > 0 {
		s += fmt.Sprintf(":%d", e.Line)
	}
	if e.Place != "" {
		s += ": " + e.Place
	}
	return s + ": " + e.Err.Error()
}

func (e *LoadError) Unwrap() error { return e.Err }

// Hint says what to do next.
func (e *LoadError) Hint() string {
	if e.hint != "" {
		return e.hint
	}
	return "correct the file or compile it again; no call is judged by a broken policy"
}

package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// load reads a policy, annotation or list file as a T.
func load[T any](file string, from func(*document) (T, error)) (T, error) {
	d, err := readDocument(file)
	if err != nil {
		var none T
		return none, err
	}
	return from(d)
}

// parse is load for bytes; name stands for the file in errors.
func parse[T any](name string, data []byte, from func(*document) (T, error)) (T, error) {
	d, err := parseDocument(name, data)
	if err != nil {
		var none T
		return none, err
	}
	return from(d)
}

// fileLimits bound a policy file, which may hold the schemas of many tools.
var fileLimits = jsonx.Limits{Bytes: 32 << 20, Depth: 64, Members: 2_000_000, Trusted: true}

// readDocument reads and parses a file.
func readDocument(file string) (*document, error) {
	data, err := readBounded(file)
	if err != nil {
		hint := "name an existing file that you can read"
		return nil, &LoadError{File: file, Err: fmt.Errorf("read: %w", fault.WithoutPath(err)), hint: hint}
	}
	return parseDocument(file, data)
}

// readBounded reads a regular file that is not larger than fileLimits allows.
func readBounded(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > int64(fileLimits.Bytes) {
		return nil, fmt.Errorf("it is larger than %d bytes", fileLimits.Bytes)
	}
	return os.ReadFile(file)
}

func parseDocument(file string, data []byte) (*document, error) {
	v, err := jsonx.Parse(data, fileLimits)
	if err != nil {
		var syntax *jsonx.SyntaxError
		if errors.As(err, &syntax) {
			return nil, &LoadError{File: file, Line: syntax.Line, Err: errors.New(syntax.Reason)}
		}
		return nil, &LoadError{File: file, Err: err}
	}
	return &document{file: file, data: data, root: v}, nil
}

// LoadDir reads compiled-policy.json from a directory, and dynamic-lists.json if it
// exists. It reads the policy first, because a program that replaces both files writes
// the policy last.
func LoadDir(dir string) (*Compiled, *Lists, error) {
	c, err := LoadCompiled(filepath.Join(dir, "compiled-policy.json"))
	if err != nil {
		return nil, nil, err
	}
	file := filepath.Join(dir, "dynamic-lists.json")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return c, nil, nil
	}
	l, err := LoadLists(file)
	if err != nil {
		return nil, nil, err
	}
	return c, l, nil
}

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

package mcpproxy

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stage"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// pathRoles are the roles of arguments that name a place in the file system.
var pathRoles = []policy.Role{
	policy.ReadPath, policy.WritePath, policy.DeletePath, policy.WriteHistory, policy.DeleteHistory,
}

// accesses returns the paths that a judged call names, and what it does with each. Relative paths
// are left out: they are relative to a repository that is in the list.
func accesses(v policy.Verdict) []stage.Access {
	named := map[string]stage.Access{}
	var names []string
	for _, step := range v.Trace {
		role := policy.Role(step.Role)
		if !slices.Contains(pathRoles, role) {
			continue
		}
		a, known := named[step.Argument]
		if !known {
			names = append(names, step.Argument)
		}
		a.Read = a.Read || role == policy.ReadPath
		a.Write = a.Write || role == policy.WritePath || role == policy.WriteHistory || role == policy.DeleteHistory
		a.Delete = a.Delete || role == policy.DeletePath
		named[step.Argument] = a
	}
	var arguments map[string]json.RawMessage
	if len(names) == 0 || json.Unmarshal(v.Arguments, &arguments) != nil {
		return nil
	}
	slices.Sort(names)
	var all []stage.Access
	for _, name := range names {
		var one string
		var several []string
		if json.Unmarshal(arguments[name], &one) == nil {
			several = []string{one}
		} else if json.Unmarshal(arguments[name], &several) != nil {
			continue
		}
		for _, path := range several {
			if a := named[name]; filepath.IsAbs(path) {
				a.Path = path
				all = append(all, a)
			}
		}
	}
	return all
}

// pathsOf returns the paths of accesses.
func pathsOf(all []stage.Access) []string {
	var paths []string
	for _, a := range all {
		paths = append(paths, a.Path)
	}
	return paths
}

// plainSpelling writes the strings of a valid JSON document with only the necessary
// escapes, so that each text has one spelling and can be found. The text of the strings does
// not change.
func plainSpelling(doc []byte) []byte {
	at := needlessEscape(doc, 0)
	if at < 0 {
		return doc
	}
	out := make([]byte, 0, len(doc))
	copied := 0
	for at >= 0 {
		out = append(out, doc[copied:at]...)
		out, copied = respell(out, doc, at)
		at = needlessEscape(doc, copied)
	}
	return append(out, doc[copied:]...)
}

// needlessEscape returns the index of the next escape whose character may need none, or -1. from is
// not inside of an escape.
func needlessEscape(doc []byte, from int) int {
	for {
		i := bytes.IndexByte(doc[from:], '\\')
		if i < 0 || from+i+1 >= len(doc) {
			return -1
		}
		from += i
		if doc[from+1] == 'u' || doc[from+1] == '/' {
			return from
		}
		from += 2
	}
}

// respell appends the character of the escape at a place, and returns the place behind the
// escape.
func respell(out, doc []byte, at int) ([]byte, int) {
	if doc[at+1] == '/' {
		return append(out, '/'), at + 2
	}
	r, next := unit(doc, at)
	if utf16.IsSurrogate(r) {
		low, after := unit(doc, next)
		if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
			next = after
		}
	}
	if r >= 0x20 && r != '"' && r != '\\' {
		return utf8.AppendRune(out, r), next
	}
	quoted, err := json.Marshal(string(r))
	if err != nil {
		return append(out, doc[at:next]...), next
	}
	return append(out, quoted[1:len(quoted)-1]...), next
}

// unit reads an escape of one UTF-16 unit, and returns utf8.RuneError if there is none.
func unit(doc []byte, at int) (rune, int) {
	if at+6 > len(doc) || doc[at] != '\\' || doc[at+1] != 'u' {
		return utf8.RuneError, at
	}
	n, err := strconv.ParseUint(string(doc[at+2:at+6]), 16, 16)
	if err != nil {
		return utf8.RuneError, at + 6
	}
	return rune(n), at + 6
}

package mcpproxy

import "encoding/json"

// skippedError is a message that was not kept. Its id, as far as it has one, is known,
// so that the agent can be told which call it was.
type skippedError struct {
	reason error
	id     json.RawMessage
}

func (e *skippedError) Error() string { return e.reason.Error() }
func (e *skippedError) Unwrap() error { return e.reason }

// maxID is the longest id that is looked for.
const maxID = 256

// idFinder looks for the id of a message that goes by. It remembers no more than one
// name or one simple value of the outermost object.
type idFinder struct {
	depth           int
	inText, escaped bool
	token           []byte // since the last ':' or ',' of the outermost object
	name            string
	id              json.RawMessage
	ids             int
}

func (f *idFinder) look(part []byte) {
	for _, c := range part {
		f.step(c)
	}
}

func (f *idFinder) step(c byte) {
	switch {
	case f.escaped:
		f.escaped = false
	case f.inText:
		f.escaped, f.inText = c == '\\', c != '"'
	case c == '"':
		f.inText = true
	case c == '{' || c == '[':
		f.depth++
		if f.depth == 1 {
			return
		}
	case c == '}' || c == ']':
		if f.depth == 1 {
			f.member()
		}
		f.depth--
	case f.depth == 1 && c == ':':
		f.name, f.token = string(f.token), f.token[:0]
		return
	case f.depth == 1 && c == ',':
		f.member()
		return
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		return
	}
	if f.depth == 1 && len(f.token) <= maxID {
		f.token = append(f.token, c)
	}
}

// member is called at the end of each member of the outermost object.
func (f *idFinder) member() {
	if f.name == `"id"` {
		f.ids++
		f.id, _ = identifier(f.token)
	}
	f.name, f.token = "", f.token[:0]
}

// found is the id, or nil when there is none that is certain.
func (f *idFinder) found() json.RawMessage {
	if f.ids != 1 {
		return nil
	}
	return f.id
}

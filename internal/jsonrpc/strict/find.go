package strict

import (
	"encoding/json"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
)

// FindID returns a jsonrpc.Finder for the id of a skipped message.
func FindID() jsonrpc.Finder { return new(idFinder) }

// maxID is the longest id that is looked for.
const maxID = 256

// idFinder looks for the id of a skipped message. It keeps at most one name or one simple
// value of the outermost object.
type idFinder struct {
	depth           int
	inText, escaped bool
	token           []byte // since the last ':' or ',' of the outermost object
	name            string
	id              json.RawMessage
	ids             int
}

// Look looks at the next part of the message.
func (f *idFinder) Look(part []byte) {
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
		f.id, _ = Identifier(f.token)
	}
	f.name, f.token = "", f.token[:0]
}

// Found returns the id, or nil when no id is certain.
func (f *idFinder) Found() json.RawMessage {
	if f.ids != 1 {
		return nil
	}
	return f.id
}

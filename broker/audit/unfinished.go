package audit

import "bytes"

// maxUnfinished bounds the calls that are remembered; beyond it none is added.
const maxUnfinished = 1 << 20

// unfinished are calls that were let through, by their ids, until a record says
// how they ended.
type unfinished map[string]struct{}

// see reads a line's body. It reads only the members at the start of a call's record, in
// their fixed order, because text of an agent comes after them.
func (u unfinished) see(body []byte) {
	_, rest, _ := bytes.Cut(body, []byte(`","plane":"tool","decision":"`))
	if len(rest) == 0 || !bytes.HasPrefix(body, []byte(`"time":"`)) {
		return
	}
	decision, rest, _ := bytes.Cut(rest, []byte(`"`))
	if session, ok := bytes.CutPrefix(rest, []byte(`,"session":"`)); ok {
		_, rest, _ = bytes.Cut(session, []byte(`"`))
	}
	call, ok := bytes.CutPrefix(rest, []byte(`,"call":"`))
	if !ok {
		return
	}
	id, _, _ := bytes.Cut(call, []byte(`"`))
	switch Decision(decision) {
	case Allow, EscalatedApproved, AutoApproved, Granted:
		if len(u) < maxUnfinished {
			u[string(id)] = struct{}{}
		}
	case Done, Failed:
		delete(u, string(id))
	default: // it was not let through
	}
}

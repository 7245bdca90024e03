package policy

import (
	"bytes"
	"encoding/json"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// Answer is a verdict in the form that the command line prints, one a line.
type Answer struct {
	ID        json.RawMessage `json:"id"` // as the call had it, or null
	Decision  Decision        `json:"decision"`
	Rule      string          `json:"rule"`
	Reason    string          `json:"reason"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Trace     []Step          `json:"trace"`
}

// callID reads the identifier of a call: a string, a number or null. The identifier is
// returned unchanged and never computed with, so an integer may be larger than a float
// can represent.
func callID(raw []byte) (json.RawMessage, bool) {
	limits := jsonx.Limits{Bytes: 4096, Depth: 1, Trusted: !bytes.ContainsAny(raw, ".eE")}
	v, err := jsonx.Parse(raw, limits)
	if err != nil || v.Kind == jsonx.Bool || v.Kind > jsonx.String {
		return nil, false
	}
	return v.Encode(), true
}

// ParseCall reads a call written as one JSON object with the members id,
// server, tool and arguments. The arguments are not decoded: their bytes are
// what the engine judges. Other members are ignored. The identifier is
// returned as it was written, nil when there is none. ok is false when the
// line is not a call.
func ParseCall(line []byte) (id json.RawMessage, c Call, ok bool) {
	fields, err := jsonx.Split(line)
	if err != nil {
		return nil, Call{}, false
	}
	var hasServer, hasTool bool
	for _, f := range fields {
		switch f.Name {
		case "id":
			known := false
			if id, known = callID(f.Raw); !known {
				return nil, Call{}, false
			}
		case "server":
			c.Server, hasServer = stringField(f.Raw)
		case "tool":
			c.Tool, hasTool = stringField(f.Raw)
		case "arguments":
			c.Arguments = f.Raw
		}
	}
	if !hasServer || !hasTool {
		return nil, Call{}, false
	}
	return id, c, true
}

func stringField(raw []byte) (string, bool) {
	v, err := jsonx.Parse(raw, jsonx.Limits{Bytes: 64 << 10})
	return v.Text, err == nil && v.Kind == jsonx.String
}

// AnswerLine judges one line. A line that is not a call is denied with the
// identifier null.
func (e *Engine) AnswerLine(line []byte) Answer {
	if len(line) > e.judge.maxCall {
		return e.AnswerTooLong(line)
	}
	id, c, ok := ParseCall(line)
	if !ok {
		return Answer{ID: json.RawMessage("null"), Decision: Deny, Rule: RuleInvalidRequest, Reason: "the line is not a call"}
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	v := e.Evaluate(c)
	return Answer{ID: id, Decision: v.Decision, Rule: v.Rule, Reason: v.Reason, Arguments: v.Arguments, Trace: v.Trace}
}

// AnswerTooLong is the answer to a line that is longer than the largest call. It gets
// only the beginning of the line, and returns the identifier if that is in it.
func (e *Engine) AnswerTooLong(beginning []byte) Answer {
	a := Answer{ID: json.RawMessage("null"), Decision: Deny, Rule: RuleInvalidRequest, Reason: "the call is too large"}
	fields, _ := jsonx.Split(beginning) // the error is that the line is cut off; the fields before are complete
	for _, f := range fields {
		if f.Name != "id" {
			continue
		}
		if id, known := callID(f.Raw); known {
			a.ID = id
		}
	}
	return a
}

// Line writes the answer as one line of JSON, without the newline.
func (a Answer) Line() []byte {
	if a.Trace == nil {
		a.Trace = []Step{} // encoded as [] instead of null
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the arguments are shown as they would be forwarded
	if err := enc.Encode(a); err != nil {
		return []byte(`{"id":null,"decision":"deny","rule":"` + RuleInvalidRequest + `","reason":"the answer cannot be written","trace":[]}`)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

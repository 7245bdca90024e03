package builtin

import "time"

// Event is something that happened in a conversation, to be shown. Its kind says which fields are
// set. Texts are not trusted, except those of Notice.
type Event struct {
	Kind    Kind
	Text    string
	Program int  // number of the program, from 1
	Failed  bool // the program failed
	Call    Call // of the program
	Tokens  int  // of the conversation
	Window  int  // tokens that the model can read
	Until   time.Time
	Model   string
}

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	Asked        Kind = "asked"         // Text: what the person wants
	Saying       Kind = "saying"        // Text: a piece of an answer, as it arrives
	Said         Kind = "said"          // Text: a whole answer, after its pieces; empty: the pieces are discarded
	ProgramBegan Kind = "program-began" // Program, Text: its code
	CallChanged  Kind = "call-changed"  // Program, Call
	ProgramEnded Kind = "program-ended" // Program, Failed, Text: the first line of its result
	Retrying     Kind = "retrying"      // Text: why; Until: when the model is asked again
	Notice       Kind = "notice"        // Text: a message of the agent itself
	Looping      Kind = "looping"       // Text: that the model does the same again and again
	Compacting   Kind = "compacting"    // Text: how the conversation becomes shorter
	Used         Kind = "used"          // Tokens, Window, Model
	Unfinished   Kind = "unfinished"    // a program ran when the former process ended: a turn without a text resumes it
)

// Call is the state of a call of a program, as the policy proxy reports it.
type Call struct {
	Index int           `json:"index"` // in its program, from 1
	Tool  string        `json:"tool"`  // "filesystem/read_text_file"
	About string        `json:"about"` // the beginning of its arguments, on one line
	State CallState     `json:"state"`
	Took  time.Duration `json:"-"`               // set when the call is over
	Ended time.Time     `json:"-"`               // when that was reported
	Alike int           `json:"alike,omitempty"` // in a list: how many more calls of the same tool and state follow
}

// CallState is the state of a call.
type CallState string

// The states of calls.
const (
	CallRuns    CallState = "runs"
	CallWaits   CallState = "waits"   // for the person
	CallDone    CallState = "done"    // allowed, and carried out
	CallFailed  CallState = "failed"  // allowed, and the tool reported an error
	CallRefused CallState = "refused" // denied by a rule or by the person
	CallCut     CallState = "cut off" // it is not known whether the call took effect
)

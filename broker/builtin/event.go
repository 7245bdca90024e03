package builtin

import "time"

// Event is something that has happened in a conversation, for whoever shows it. Which fields
// count depends on its kind. Texts are not trusted, except those of Notice.
type Event struct {
	Kind    Kind
	Text    string
	Program int  // number of the program, from 1
	Failed  bool // the program did not do what it should
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
	Said         Kind = "said"          // Text: a whole answer, after its pieces; empty: nothing of them counts
	ProgramBegan Kind = "program-began" // Program, Text: its code
	CallChanged  Kind = "call-changed"  // Program, Call
	ProgramEnded Kind = "program-ended" // Program, Failed, Text: the first line of what came of it
	Retrying     Kind = "retrying"      // Text: why; Until: when the model is asked again
	Notice       Kind = "notice"        // Text: what the agent itself has to say
	Looping      Kind = "looping"       // Text: that the model does the same again and again
	Compacting   Kind = "compacting"    // Text: how the conversation becomes shorter
	Used         Kind = "used"          // Tokens, Window, Model
	Unfinished   Kind = "unfinished"    // a program ran when the process before ended: a turn without a text goes on with it
)

// Call is how a call of a program stands, as the policy proxy reports it.
type Call struct {
	Index int           `json:"index"` // in its program, from 1
	Tool  string        `json:"tool"`  // "filesystem/read_text_file"
	About string        `json:"about"` // the beginning of its arguments, on one line
	State CallState     `json:"state"`
	Took  time.Duration `json:"-"`               // once it is over
	Ended time.Time     `json:"-"`               // when that was heard
	Alike int           `json:"alike,omitempty"` // in a list: so many more of its tool follow that stand alike
}

// CallState is how a call stands.
type CallState string

// The states of calls.
const (
	CallRuns    CallState = "runs"
	CallWaits   CallState = "waits"   // for the person
	CallDone    CallState = "done"    // allowed, and carried out
	CallFailed  CallState = "failed"  // allowed, and the tool reported an error
	CallRefused CallState = "refused" // Denied by a rule or by the person
	CallCut     CallState = "cut off" // whether it took effect is not known
)

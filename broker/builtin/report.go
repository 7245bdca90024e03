package builtin

// Report is what a process prints at the end of a task.
type Report struct {
	Text    string         `json:"text"`
	Failure string         `json:"failure,omitempty"` // why there is no answer
	Events  []ReportedStep `json:"events"`
}

// ReportedStep is something that happened during a task.
type ReportedStep struct {
	Kind   string `json:"kind"` // agent_text, tool_call, step_finish, loop_detection or message_compaction
	Text   string `json:"text,omitempty"`
	Tool   string `json:"tool,omitempty"`
	State  string `json:"state,omitempty"`  // of the call
	Tokens int    `json:"tokens,omitempty"` // of the conversation, as of that request
}

// Bounds of a report.
const (
	maxSteps = 1000
	maxStep  = 4 << 10 // bytes of a step's text
)

// Take adds an event. The last complete answer becomes the report's text.
func (r *Report) Take(e Event) {
	step := ReportedStep{Text: e.Text[:min(len(e.Text), maxStep)]}
	switch e.Kind {
	case Said:
		if e.Text == "" {
			return
		}
		step.Kind, r.Text = "agent_text", e.Text
	case CallChanged:
		if e.Call.State == CallRuns || e.Call.State == CallWaits {
			return
		}
		step = ReportedStep{Kind: "tool_call", Tool: e.Call.Tool, State: string(e.Call.State), Text: e.Call.About}
	case Used:
		step = ReportedStep{Kind: "step_finish", Tokens: e.Tokens}
	case Looping:
		step.Kind = "loop_detection"
	case Compacting:
		step.Kind = "message_compaction"
	default:
		return
	}
	if len(r.Events) < maxSteps {
		r.Events = append(r.Events, step)
	}
}

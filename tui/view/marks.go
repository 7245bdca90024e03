package view

// TabMark is a mark in the tab bar and what it means.
type TabMark struct{ Mark, Says string }

// TabMarks lists all marks, in the order of a tab's life.
func TabMarks() []TabMark {
	return []TabMark{
		{MarkStarting, "the agent starts"},
		{MarkIdle, "the agent is idle"},
		{MarkWorking, "a request to its model or a call is under way"},
		{MarkWaiting, "a call waits for you"},
		{MarkDone, "the agent is done, and you have not looked yet"},
		{MarkLost, "the agent cannot be reached"},
		{MarkEnded, "the agent has ended"},
		{MarkMuted, "the tab's notifications are off (/mute)"},
		{"bold", "something happened in the tab that you have not looked at"},
	}
}

// The marks in the tab bar.
const (
	MarkStarting = "◌"
	MarkIdle     = "○"
	MarkWorking  = "●"
	MarkWaiting  = "!"
	MarkDone     = "✓"
	MarkLost     = "?"
	MarkEnded    = "✗"
	MarkMuted    = "⊘"
)

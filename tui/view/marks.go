package view

// tabMark is a sign in the tab bar and what it says.
type tabMark struct{ Mark, Says string }

// TabMarks are all of them, in the order of a tab's life.
func TabMarks() []tabMark {
	return []tabMark{
		{MarkStarting, "the agent starts"},
		{MarkIdle, "it asks for nothing"},
		{MarkWorking, "a request to its model or a call is under way"},
		{MarkWaiting, "a call waits for you"},
		{MarkDone, "it has done its work, and you have not looked yet"},
		{MarkLost, "it cannot be reached"},
		{MarkEnded, "it has ended"},
		{MarkMuted, "nothing is announced of it (/mute)"},
		{"bold", "something happened there that you have not looked at"},
	}
}

// The signs.
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

package tui

// tabMark is a sign in the tab bar and what it says.
type tabMark struct{ mark, says string }

// tabMarks are all of them, in the order of a tab's life.
func tabMarks() []tabMark {
	return []tabMark{
		{markStarting, "the agent starts"},
		{markIdle, "it asks for nothing"},
		{markWorking, "a request to its model or a call is under way"},
		{markWaiting, "a call waits for you"},
		{markDone, "it has done its work, and you have not looked yet"},
		{markLost, "it cannot be reached"},
		{markEnded, "it has ended"},
		{markMuted, "nothing is announced of it (/mute)"},
		{"bold", "something happened there that you have not looked at"},
	}
}

// The signs.
const (
	markStarting = "◌"
	markIdle     = "○"
	markWorking  = "●"
	markWaiting  = "!"
	markDone     = "✓"
	markLost     = "?"
	markEnded    = "✗"
	markMuted    = "⊘"
)

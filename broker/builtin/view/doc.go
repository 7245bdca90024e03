// Package view is what a person sees of the built-in agent, inline on its tab's terminal.
//
// Run connects three goroutines. Bubble Tea's loop has the model: keys and events go in, rows
// come out, and nothing in it waits. A pump brings the agent's events to the loop, and goes on
// until no turn runs, so that no turn is stuck at an event. The screen draws: rows that stay
// go to the scrollback, and below them stands the frame, which is drawn anew: the paragraph
// that arrives, the program that runs, what waits to be asked, the input.
//
// The process is locked: it opens nothing. The terminal, its size and the agent are handed in,
// and nothing here asks the terminal anything.
//
// The model's words and those of tools are not trusted. They become rows of glyphs, each of one
// or two columns with its marks, are wrapped to the width less our signs, and only then get the
// sign that says whose they are. So nothing of theirs begins where our rows do: words of the
// model's stand behind "│ ", those of the person behind "> ", and what is said of calls comes
// from the policy proxy's reports.
package view

// Package view shows the built-in agent to a person, inline on its tab's terminal.
//
// Run connects three goroutines. Bubble Tea's loop runs the model: keys and events come in, rows go
// out, and it never blocks. The pump passes the agent's events to the loop until no turn runs any
// more, so that no turn blocks on an event. The screen draws: finished rows go to the scrollback,
// and below them is the frame, which is redrawn: the paragraph that arrives, the running program,
// the queue, the input.
//
// The process is locked and can open nothing. It is given the terminal, its size and the agent, and
// sends the terminal no queries.
//
// Texts of the model and of tools are not trusted. They become rows of glyphs, each one or two
// columns wide with its combining marks, and are wrapped to the width that the prefix leaves. Then
// each row gets its prefix, so that no untrusted text can begin where our own rows do: "│ " for the
// model's words, "> " for the person's. The states of calls come from the policy proxy's reports.
package view

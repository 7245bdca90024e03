// Package tui is the multiplexer's user interface: tabs with agents in them, one status line, a
// command line that Ctrl-A opens, and the approval panel for calls that wait for the person.
//
// Three kinds of loops share the work and never wait for each other. The Bubble Tea
// program (model.go, update*.go) makes all decisions: every key, mouse movement, broker
// event and finished request reaches it as a message, one after the other. It handles a key in
// the mode that is active when the key's message arrives. Each pane (tui/pane) moves bytes
// between an agent's terminal and its screen of cells. The compositor (tui/view) draws the
// cells of the visible panes, and the chrome that the model published last, on the
// person's terminal, one frame at a time.
//
// An agent's bytes never reach the person's terminal. Panes are drawn from cells, and
// every other string that an agent can influence passes through text.Drawable.
package tui

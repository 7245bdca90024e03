// Package tui is the multiplexer a person sees: tabs with agents in them, one
// status line, a command line behind Ctrl-A and the panel in which calls that
// wait for a person are judged.
//
// Three loops share the work and never wait for each other. The Bubble Tea
// program (model.go, update*.go) is the only one that decides anything: every
// key, mouse movement, broker event and finished request arrives there as a
// message, one after the other, and a key is judged in the mode that holds
// when its turn comes. Each pane (tui/pane) moves bytes between an agent's
// terminal and its screen of cells. The compositor (tui/view) puts the cells of the
// visible panes and the chrome that the model last published on the person's
// terminal, at most one frame at a time.
//
// Bytes of an agent never reach the person's terminal: panes are drawn from
// cells, and every other string that the agent had a hand in passes through
// text.Drawable.
package tui

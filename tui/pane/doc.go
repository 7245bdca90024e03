// Package pane moves bytes between an agent's terminal and its screen of cells.
//
// What an agent writes goes to its screen on the goroutine that read it; what a person
// types goes through an InputQueue, or straight to the agent when nothing waits. The Gate
// holds back the reader of the person's terminal while the focused queue is crowded, and
// Priority lets a key and its echo go before the output of panes that nobody sees. Tasks
// owns the goroutines.
package pane

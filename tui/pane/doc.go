// Package pane moves bytes between an agent's terminal and its screen of cells.
//
// The goroutine that reads an agent's output also writes it to the screen. A person's
// input goes through an InputQueue, or straight to the agent when the queue is empty. Gate
// holds back the reader of the person's terminal while the focused queue is crowded.
// Priority lets a key and its echo go before the output of hidden panes. Tasks owns the
// goroutines. Mux.Save and Mux.Load move all panes to another process.
package pane

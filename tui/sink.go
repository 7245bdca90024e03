package tui

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// sink is where the model's output goes. None of its methods but Edit and Show
// blocks.
type sink interface {
	// Publish replaces the scene that is drawn.
	Publish(s *view.Scene)
	// Wake asks for a frame because the screen of a visible pane has changed.
	Wake()
	// Show does the same, and may paint the frame before it returns: it is for
	// the goroutine that brought the change.
	Show()
	// Request asks the person's terminal for something besides cells: the bell,
	// a notification, the clipboard.
	Request(r view.Request)
	// Edit shows text in a program that has the terminal to itself until it ends.
	// It blocks; only commands call it.
	Edit(ctx context.Context, argv []string, name string, text []byte) error
	// Answered passes on what the terminal said of itself.
	Answered(r keys.Reply)
}

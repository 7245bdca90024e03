// Package view draws the multiplexer's own part of the screen. It turns data into cells,
// and knows only what its callers hand to it of sessions and calls.
//
// A Surface is a rectangle of cells; text that is written to it is clipped to it. The
// model puts surfaces and the screens of visible panes into a Scene, and the Compositor
// draws the scene on the person's terminal, one frame at a time.
//
// Every string that an agent can influence passes through text.Drawable before it is
// drawn.
package view

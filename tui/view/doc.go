// Package view draws the multiplexer's own part of the screen. Everything in it is data
// in, cells out: it knows sessions and calls only as far as they are handed to it.
//
// A Surface is a rectangle of cells; what is written to it is clipped to it. The model
// puts surfaces and the screens of visible panes into a Scene, and the Compositor draws
// that on the person's terminal, at most one frame at a time.
//
// Every string that an agent had a hand in passes through text.Drawable before it is drawn.
package view

package input

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// wheelLines is how far one turn of the wheel scrolls.
const wheelLines = 3

// WheelStep is how many lines a turn of the wheel goes, up is negative.
func WheelStep(e keys.Mouse) int {
	if e.Button == keys.WheelUp {
		return -wheelLines
	}
	return wheelLines
}

// Clamp brings a mouse event into a rectangle.
func Clamp(e keys.Mouse, at view.Rect) keys.Mouse {
	e.X = min(max(at.X, e.X), at.X+at.W-1)
	e.Y = min(max(at.Y, e.Y), at.Y+at.H-1)
	return e
}

// Handled reports whether an event is something that a person gave a program and that
// can make it act: not a release of a key, a modifier or a movement.
func Handled(ev keys.Event) bool {
	switch ev.Kind {
	case keys.MouseEvent:
		return ev.Mouse.Action == keys.MousePress || ev.Mouse.Action == keys.MouseRelease
	case keys.KeyEvent:
		return !ev.Key.IsModifier() && ev.Key.Action != keys.Release
	case keys.UnknownEvent:
		return false
	}
	return true
}

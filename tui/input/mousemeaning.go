package input

import (
	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// wheelLines is how many lines one step of the wheel scrolls.
const wheelLines = 3

// WheelStep returns how many lines a step of the wheel scrolls; up is negative.
func WheelStep(e keys.Mouse) int {
	if e.Button == keys.WheelUp {
		return -wheelLines
	}
	return wheelLines
}

// Clamp moves a mouse event to the nearest cell of a rectangle.
func Clamp(e keys.Mouse, at view.Rect) keys.Mouse {
	e.X = min(max(at.X, e.X), at.X+at.W-1)
	e.Y = min(max(at.Y, e.Y), at.Y+at.H-1)
	return e
}

// Handled reports whether an event is input that can make a program act: not the release
// of a key, not a modifier and not a movement of the mouse.
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

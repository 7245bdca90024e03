package broker

import "github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"

// Effect is what a waiting call would do, worked out on the host when the call
// began to wait. It is plain data, and must be sanitized before it is drawn.
type Effect = preview.Effect

// EffectLine is one line of an effect.
type EffectLine = preview.Line

// EffectLineKind says what a line of an effect is.
type EffectLineKind = preview.LineKind

// The kinds of lines of an effect.
const (
	EffectNote    = preview.Note
	EffectWarning = preview.Warning
	EffectHunk    = preview.Hunk
	EffectSame    = preview.Same
	EffectRemoved = preview.Removed
	EffectAdded   = preview.Added
	EffectItem    = preview.Item
	EffectFile    = preview.File
)

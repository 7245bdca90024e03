// Package paint puts cells on the person's terminal. A Canvas is the picture
// as it shall be: panes copied from their screens, host chrome drawn around
// them. A Painter knows the picture as it is, and writes the difference as few
// bytes: changed cells only, short cursor motions, style deltas, scroll regions,
// erases. A Loop decides when: at once when the line was quiet, at most 120
// times a second under flood.
//
// Nothing of a program's bytes gets here but cells, and of those only what is
// printable is written, so that no cell can act on the terminal it is shown on.
package paint

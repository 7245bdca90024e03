// Package paint puts cells on the person's terminal. A Canvas is the wanted picture:
// panes copied from their screens, and the multiplexer's own parts around them. A
// Painter knows what the terminal shows, and writes the difference in few bytes:
// changed cells only, short cursor motions, style deltas, scroll regions, erases. A
// Loop decides when: at once if there was no output just before, at most 120 times a
// second under flood.
//
// A program's bytes never get here, only cells. The Painter writes only printable text
// of them, so that no cell can send a control sequence to the person's terminal.
package paint

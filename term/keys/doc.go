// Package keys translates between two terminals. Decoder turns the bytes of
// the person's own terminal into events (keys, pastes, mouse, focus, answers),
// whatever dialect it speaks; Encode turns an event into the bytes that a program
// in a tab expects for the modes it asked for. An event keeps the bytes it came
// from, so that nothing is lost on the way when both sides speak the same.
package keys

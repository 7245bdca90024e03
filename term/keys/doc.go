// Package keys translates input between two terminals. Decoder turns the bytes of the
// person's own terminal into events (keys, pastes, mouse, focus, answers), whatever
// encoding that terminal uses. Encode turns an event into the bytes that a program in a
// tab expects for the modes it asked for. An event keeps its original bytes, so that
// nothing is lost when both sides use the same encoding.
package keys

// Package input says what the person's keys, mouse and pastes mean.
//
// One table binds keys to actions, for each place where keys are pressed. Bind makes the
// table from the keys that a person chose; dispatch, the help screen and the documentation
// all read it. While an agent has the keyboard, only Keys.Meaning decides whether a key is
// for the agent or for the multiplexer. Line is the editor of the command line. It
// remembers for every character whether it was typed or pasted, because only typed text
// counts as a person's intent.
package input

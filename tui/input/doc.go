// Package input says what the person's keys, mouse and pastes mean.
//
// One table ties keys to actions, each in its place: Bind makes it of a person's choice,
// and dispatch, the help screen and the documentation all read it. Keys.Meaning decides
// whom a key is for while an agent has the keyboard, and is the only one who does. Line
// is the editor behind the command key; it knows of every character whether it was typed
// or pasted, because only typed text counts as a person's intent.
package input

// Package menu is the menu above the command line: what the word at the cursor can become.
//
// At finds the word, Arguments says what it can be after a command, Match keeps what fits to what
// is typed, and Draw draws it. Nothing here reads a directory or asks the broker: what has to be
// looked for is named by a Source.
package menu

// Package menu is the menu above the command line: what the word at the cursor can become.
//
// At finds the word, Arguments returns the entries that it can become, Match keeps the entries that
// fit the typed text, and Draw draws them. Entries that need a directory or the broker are named by a
// Source; LookUp.Find finds them, and may block. Nothing else here does.
package menu

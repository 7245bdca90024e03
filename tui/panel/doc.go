// Package panel is the approval panel: the calls that wait for a person, what the person
// has seen of them, and whether a decision may be made.
//
// Queue holds the items and which one is shown. An item is laid out as rows for a width,
// nothing left out; a decision needs all of them to have stood on the screen, for long
// enough that no key which was already on its way can make it. Draw draws the shown item,
// Painted notes what of it came to be on the screen, Chosen says what a decision is about
// or why it cannot be made yet.
package panel

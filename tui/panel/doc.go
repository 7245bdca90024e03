// Package panel is the approval panel: the calls that wait for a person, what the person
// has seen of them, and whether a decision may be made.
//
// Queue holds the items and knows which one is shown. An item is laid out as rows for a
// width; nothing is left out. An approval needs all rows to have been on the screen, and
// any decision needs the item to have been there for a moment, so that a key that was
// already on its way cannot decide it. Draw draws the shown item, Painted notes which of
// its rows have been on the screen, and Chosen returns the items that a decision is about,
// or says why it cannot be made yet. Focus makes y and n decide the call as it stands there.
// Strip shows one call in short, for the rows above the status line; it leaves no trace in
// what has been seen.
package panel

// Package panel is the approval panel: the calls that wait for a person, what the person
// has seen of them, and whether a decision may be made.
//
// A Queue has the waiting items and knows which one is shown. An item is laid out as rows for a
// width; nothing is left out. A call can be approved only after all its rows were on the screen. No
// decision can be made before the item was on the screen for a moment, so that a key that was
// pressed before cannot decide it. Draw draws the shown item, and Painted notes which of its rows
// were on the screen. Chosen returns the items that a decision is about, or why the decision cannot
// be made yet. Focus lets y and n decide the shown call. Strip shows one call in short, above the
// status line; that does not count as having been seen.
package panel

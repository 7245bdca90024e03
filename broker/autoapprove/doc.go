// Package autoapprove lets a call through without asking when the person has just
// asked for that very call.
//
// What they asked for is what they typed in command mode, kept as a receipt on
// the host; nothing an agent writes comes in. A deterministic reading comes
// first: the text must be an order in a small closed language that names the
// operation and its target, and the canonical arguments must agree with it in
// everything. Whatever the language does not know, a negation, a condition, a
// quotation, a paste in the wrong place, is left to the person. A model may then
// have to confirm. It can only turn an agreement into a question, never a
// question into an agreement, so that no text can talk it into anything.
package autoapprove

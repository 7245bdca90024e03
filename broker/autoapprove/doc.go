// Package autoapprove lets a call through without asking when the person has just
// ordered exactly this call.
//
// The order is the text that the person typed in command mode. It is kept as a
// receipt on the host, and no text of an agent is part of it. First a grammar reads
// it: the text must be an order in a small closed language that names the operation
// and its target, and the canonical arguments must agree with it completely. A text
// that the language does not know, such as a negation, a condition, a quotation or a
// paste in the wrong place, is left to the person. A model may then have to confirm.
// It can only turn an approval into a question, never a question into an approval, so
// that no text can persuade it to approve.
//
// If the person has chosen so, a model reads the text in place of the grammar, in any
// language. Fixed rules then leave two kinds of calls to the person: those that no words may
// order, and those on anything that the text does not name letter by letter.
package autoapprove

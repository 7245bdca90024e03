// Package receipt keeps the text that a person typed into the multiplexer itself, for as
// long as it can count as consent.
//
// Each input is a receipt with a number, of one session only. It is valid for a limited time, until
// the next input of that session, and for one approval unless its text names a number. Only the
// spans that were typed are intent; what was pasted may have been written by anybody. Receipts are
// only in the memory of the trusted process: no file, socket or terminal sequence leads to them, so
// an agent can neither write nor read nor renew one.
package receipt

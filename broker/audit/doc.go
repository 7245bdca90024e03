// Package audit keeps a record of every decision: what was asked, what was judged, and who
// decided. The record is written before anything takes effect.
//
// The log is a file of JSON lines. Every line carries its number and the
// SHA-256 of the line before it, so an edit, a gap or a reordering anywhere
// breaks the chain. Beside the log stands a small head file with the number,
// the hash and the end of the last line; a log that is closed ends in a line
// that says so. Between them they show when lines are missing from the end.
//
// Append returns when the record is on the disk. Callers that arrive together
// share one write and one sync. When the disk is full, gone or too slow, or
// when somebody else changed the file, Append returns an error and the log
// stays as it was; the caller must then refuse what it was about to do. The
// log works again as soon as the cause is gone.
//
// Commit does the same without the writing goroutine, for the model proxy: it is mostly alone,
// and has a time limit of its own.
//
// The end of a call that was let through is a record of its own, written with Post: nothing waits
// for it.
package audit

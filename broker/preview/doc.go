// Package preview computes what a tool call would do, before a person approves it.
//
// A person can approve a call only if they see its effect: which lines of which file change, which
// commits go to which host, to which site an address really belongs, which command runs. The effect is
// computed on the host from the canonical arguments, which are the ones that are forwarded. Nothing
// from the call or a repository is run: files are opened without following links, and a repository is
// read through a repository of our own that only borrows its objects.
//
// An effect describes one moment. If it changes, so does its fingerprint.
package preview

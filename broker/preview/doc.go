// Package preview computes what a tool call would do, before a person approves it.
//
// An approval has a value only if the person sees the effect: which lines of which
// file change, which commits would go to which host, which site an address really
// belongs to, which command would run. The effect is computed on the host from the
// canonical arguments, which are the ones that would be forwarded. Nothing that the
// call or a repository contains is run: files are opened without following links,
// and a repository is read through a repository of our own that only borrows its
// objects.
//
// An effect describes one moment. Its fingerprint shows whether it has changed.
package preview

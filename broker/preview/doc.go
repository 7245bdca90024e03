// Package preview finds out what a tool call would do, before anybody lets it.
//
// An approval is only worth something when the person sees the effect: which
// lines of which file become which, which commits would leave for which host,
// which site an address really belongs to, which command would run. All of it is
// worked out on the host from the canonical arguments, the ones that would be
// forwarded, and without running anything that the call or a repository brings
// along: files are opened without following links, a repository is read through
// a repository of our own that only borrows its objects.
//
// An effect describes one moment. Its fingerprint tells whether it still holds.
package preview

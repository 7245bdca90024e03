// Package mirror keeps bare mirrors of repositories that a person has named by their URL, so
// that sessions can borrow their objects and only what is new has to be fetched.
//
// Git on the host fetches as the person, with their configuration and their login at that
// one host, and asks nobody. It takes branches and tags and nothing else: no hook, filter or
// submodule, no other place to fetch from. Limits of time and size end it, and so does the
// end of this process.
//
// No container can write to a mirror, so a mirror holds only what the remote has sent. One
// process at a time uses a mirror (Cache.Fetch locks it), and first clears away what a git
// that was killed has left half done. Objects are never removed, because sessions borrow
// them. A damaged mirror gets the remote's objects again, in the same place.
package mirror

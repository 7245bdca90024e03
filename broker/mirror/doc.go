// Package mirror keeps bare mirrors of repositories that a person has named by URL, so that sessions
// can borrow their objects and only new ones must be fetched.
//
// Git on the host fetches as the person, with their configuration and their login at that one host,
// and without prompts. It fetches branches and tags and nothing else: it runs no hook and no filter,
// and follows no submodule and no other URL. Limits of time and size end it, and so does the end of
// this process.
//
// No container can write to a mirror, so it contains only what the remote has sent. One process at a
// time uses a mirror (Cache.Fetch locks it), and first removes what a killed git has left unfinished.
// Objects are never removed, because sessions borrow them. If a mirror is damaged, the remote's
// objects are fetched again, into the same directory.
package mirror

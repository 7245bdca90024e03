// Package obeyed finds what programs of this machine would run or obey by themselves of
// a workspace (git its hooks and its configuration, an editor its tasks, a shell its
// .envrc) and says what of that is new or has changed since an earlier look.
//
// An agent writes what is looked at, maybe at the same time. So nothing is run, git
// least of all; no link is followed out of the workspace; a pipe is not waited for; and
// depth, entries, bytes and time are bounded. What a look missed, it says.
//
// Which names count is the list of policy/hostexec. What counts of a git repository
// is here: hooks, what its configuration makes git run or obey, what leads git elsewhere.
package obeyed

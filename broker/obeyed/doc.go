// Package obeyed finds what programs of this machine would run or obey by themselves of
// a workspace (git its hooks and its configuration, an editor its tasks, a shell its
// .envrc) and says what of that is new or has changed since an earlier look.
//
// An agent writes the workspace, maybe at the same time. So a look runs nothing, not even
// git, follows no link out of the workspace, never waits for a pipe, and is bounded in
// depth, entries, bytes and time. It reports what it has missed.
//
// The list of file names is in policy/hostexec. The rules for git repositories are here:
// hooks, what the configuration makes git run or obey, and what leads git elsewhere.
package obeyed

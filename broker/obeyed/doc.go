// Package obeyed finds the files in a workspace that programs of this machine run or obey by
// themselves, such as git's hooks and configuration, an editor's tasks, or .envrc in a shell. It
// says which of them are new or have changed since an earlier look.
//
// An agent writes to the workspace, perhaps at the same time. So a look runs nothing, not even
// git, follows no link out of the workspace, never blocks at a pipe, and is bounded in depth,
// entries, bytes and time. It reports what it has missed.
//
// The list of file names is in policy/hostexec. The rules for git repositories are here: hooks,
// files that the configuration makes git run or obey, and files that lead git to another repository.
package obeyed

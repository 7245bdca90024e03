// Package worktree gives a session a working tree and a branch of its own, made
// from the commit that a person's repository is at.
//
// It is not one of git's linked worktrees: those share one repository, and who
// can commit in one can rewrite, empty or arm all of it. A Tree is a repository
// of its own, which borrows the objects of the person's and can only read them.
// The person's repository gets the branch, at once at the commit it begins with,
// which also keeps the borrowed objects from being pruned; commits follow when the
// session ends (Place.Settle). Nothing that has not come there is ever removed
// unless the caller insists.
//
// Everything in the tree, its repository included, is an agent's to write. So
// git never runs here on what the tree says about itself: it runs in a repository
// beside it (Place.Keep), which no container sees, with a configuration of ours,
// and takes nothing from the tree but objects and the commit of its branch. These have
// to be files of the tree's own: behind a link could be another repository.
package worktree

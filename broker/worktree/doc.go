// Package worktree gives a session a working tree and a branch of its own, made
// from the commit that a person's repository is at.
//
// It is not one of git's linked worktrees: those share one repository, and anyone
// who can commit in one can rewrite or empty all of it. A Tree is a repository of
// its own, which borrows the objects of the person's repository and can only read
// them. The branch is made in the person's repository at once, at the first commit,
// which also prevents the borrowed objects from being pruned. The session's commits
// are copied there when the session ends (Place.Settle). Work that was not copied is
// never removed unless the caller insists.
//
// A tree can also be made of a mirror of a repository elsewhere (Clone). It is then at a
// branch of the remote, and its commits leave it only by being pushed.
//
// Everything in the tree, its repository included, is an agent's to write. So
// git never runs here on what the tree says about itself: it runs in a repository
// beside it (Place.Keep), which no container sees, with a configuration of ours,
// and takes nothing from the tree but objects and the commit of its branch. These have
// to be files of the tree's own: behind a link could be another repository.
package worktree

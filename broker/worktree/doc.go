// Package worktree gives a session a working tree and a branch of its own, made from the commit at
// which a person's repository is.
//
// A Tree is not one of git's linked worktrees: those share one repository, and anyone who can commit
// in one of them can rewrite or empty the whole repository. A Tree is a repository of its own, which
// borrows the objects of the person's repository and can only read them. The branch is made in the
// person's repository immediately, at the base, which also prevents git from pruning the borrowed
// objects. The session's commits are copied there when the session ends (Place.Settle). Work that
// was not copied is never removed unless the caller insists.
//
// A tree can also be made from a mirror of a repository at a URL (Clone). It is then at a branch of
// the remote, and its commits leave it only when they are pushed.
//
// An agent can write to everything in the tree, including the repository. So this package never lets
// git use the tree's own repository: git runs in a repository beside it (Place.Keep), which no
// container sees, with our configuration, and reads only objects and the commit of the branch from
// the tree. These must be files of the tree, not links, because a link could lead to another
// repository.
package worktree

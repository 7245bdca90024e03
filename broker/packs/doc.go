// Package packs brings the objects that worktrees borrow to an engine that does not see
// this machine's files.
//
// A worktree reads the objects of the person's repository at the path where that keeps them
// (broker/worktree). On such an engine one volume for each repository is mounted at that path,
// and Fill puts there what it lacks, as packs that git makes on the host. The first session
// sends what its commits need, with their history. Later ones send what is new: a file on the
// host remembers which packs the volume has and which commits they make complete, and is
// believed only while the volume lists all of these packs with their sizes.
//
// A repository with more than the limit allows is sent without its oldest history, and
// without references that lead there. Result.Cut has the commits that the worktree must take
// for the first ones (git's file "shallow"), Result.Absent what it must not name.
//
// The repository is the person's, but an agent may have written to it. Git runs in a
// repository of our own, which borrows the person's objects: nothing of their configuration is
// read, nothing is fetched, and only what the commits lead to is packed. A repository that
// itself borrows is refused, because its objects could be anybody's.
package packs

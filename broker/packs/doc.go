// Package packs brings a repository's objects to an engine that does not see this machine's
// files, so that worktrees can borrow them there.
//
// A worktree has no objects of its own at first: it reads those of the person's repository, at the
// path where that keeps them (broker/worktree). On such an engine one volume for each repository
// is mounted at that path, and Fill puts there what it lacks, as packs that git makes on the host.
// The first session sends what its commits need, with their history. Later ones send what is new:
// a file on the host remembers which packs the volume has and which commits they make complete,
// and is believed only while the volume lists all of these packs with their sizes.
//
// When more is missing than the limit allows, the oldest history is not sent. Result.Cut has the
// commits that the worktree must take for the first ones (git's file "shallow"), Result.Absent the
// references to what was not sent, which it must not have.
//
// The repository is the person's, but an agent may have written to it. Git runs in a
// repository of our own, which borrows the person's objects: nothing of their configuration is
// read, nothing is fetched, and only what the commits lead to is packed. A repository that
// itself borrows is refused, because its objects could be anybody's.
package packs

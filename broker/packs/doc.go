// Package packs sends a repository's objects to an engine that does not see this machine's files,
// so that worktrees can borrow them there.
//
// A worktree has no objects of its own at first: it borrows those of the person's repository, by
// their path (broker/worktree). On such an engine a volume for each repository is mounted at that
// path, and Fill puts into it what it lacks, as packs that git makes on the host. The first session
// sends what its commits need, with their history. Later ones send what is new: a file on the host
// stores which packs the volume has and which commits they make complete. It is used only while
// the volume lists all of these packs with their sizes.
//
// When more is missing than the limit allows, the oldest history is not sent. Result.Cut has the
// commits whose parents are missing then, for git's file "shallow" in the worktree; Result.Absent
// has the references that the worktree must not have, because their objects were not sent.
//
// The repository is the person's, but an agent may have written to it. So git runs in a scratch
// repository, which borrows the person's objects: it does not read the person's configuration,
// fetches nothing, and packs only what the commits lead to. A repository that itself borrows is
// refused, because its objects could be anybody's.
package packs

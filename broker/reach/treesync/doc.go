// Package treesync makes a directory of this machine and one in a container equal, again and again,
// where the engine cannot see this machine's files. The host decides and the container obeys.
//
// A Tree is the host's end: one directory, and a note of what both sides agreed on last. Its Sync
// compares three states of each path: as agreed, there (in the container) and here (on the host).
// What changed on one side only goes to the other. What changed on both is a conflict: the agent's
// stays where it is, and ours is put beside it, on both sides, so that nothing is lost. A deletion
// on one side and a change on the other are no conflict: the change stays.
//
// A Server is the container's end. It answers three requests (wire.go): what changed since the
// last answer, the content of these paths, and write these paths. It remembers digests by what
// stat says of a file, as the host's end does (scan.go), so that a Sync that finds nothing costs
// one round trip and reading directories.
//
// The host does not trust the container. A manifest must be a tree in order, within limits of
// count and bytes, else the connection is given up. All that is written here goes through
// os.Root, and no link is followed even below it (place.go): links are made and never opened.
// Only files, directories and links are carried, with the nine bits of their mode. The container
// trusts the host, but it is busy: before the Server replaces something it compares what is
// there with what the host expects, and leaves what has changed for another round.
//
// Both ends write beside the target and rename. Whatever ends a Sync early, a full disk or a
// lost connection, the note holds only what is equal on both sides: the next Sync does the rest.
package treesync

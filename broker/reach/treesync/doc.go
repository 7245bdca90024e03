// Package treesync keeps a directory of the host and one in a container equal where the engine
// cannot mount the host's files. The host decides and the container obeys.
//
// A Tree is the host's end: one directory, and a note of the state that both sides agreed on last.
// Its Sync compares that state with both sides, path by path. A change on one side goes to the
// other. A path that changed on both sides is a conflict: the agent's version keeps the path, and
// the host's version is put beside it, on both sides, so that nothing is lost. If one side deleted
// a path and the other one changed it, the change stays, and that is no conflict.
//
// A Server is the container's end. It serves three requests (wire.go): list what changed since the
// last list, send these paths, write these paths. Both ends cache digests by what stat says of a
// file (digests.go), so a Sync without changes costs one round trip and reading directories.
//
// The host does not trust the container. A list of files must be a tree in order and within limits
// of count and bytes, else the host closes the connection. The host writes through os.Root and
// follows no link even below it (disk.go): it creates links and never opens them. Only files,
// directories and links are copied, with the nine permission bits. The container trusts the host,
// but its agent may be writing: before the Server replaces something, it compares it with what the
// host expects, and leaves what has changed to another pass.
//
// Both ends write a temporary file and rename it. If a full disk or a lost connection ends a Sync,
// the note holds only what is equal on both sides, and the next Sync does the rest.
package treesync

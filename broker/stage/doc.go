// Package stage lets a tool server carry out one call on files that it cannot access.
//
// An allowed call may name files outside the workspace. The server that carries it out never
// accesses them. It works on a stage: a private directory that it sees as the root of the machine,
// with copies of exactly the files that the call names, at the same paths. When the server has
// answered, the host applies the changes of these files, and ignores everything else that the server
// may have left on the stage.
//
// New examines the files and returns an error if the call cannot take effect, so that no person is
// asked in vain. Lay makes the copies, and Commit applies the changes. Both refuse a file, or a
// directory above it, that was replaced since New. Directories whose content a call needs are not
// copied: the server's sandbox binds them to the stage (Binds) after the same check.
package stage

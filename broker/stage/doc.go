// Package stage lets a server carry out one call on files that it cannot reach.
//
// A call that was let through may name files outside the workspace. The server that
// carries it out never gets at them. It works on a stage: a private directory that it
// sees as the root of the machine, with copies of exactly the files that the call names,
// at the same paths. After the server has answered, the host carries over what became of
// these files, and nothing else that the server may have left on the stage.
//
// New looks at the files and returns why the call cannot take effect, if it cannot, so
// that no person is asked in vain. Lay puts the copies in place, Commit carries the
// changes over. Both refuse a file, or a directory above it, that is another one than New
// saw. Directories whose content a call needs are too large for copies. The server's
// sandbox binds them to the stage (Binds) after the same check.
package stage

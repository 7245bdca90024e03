// Package gomod is an agent's way to Go modules: a module proxy with its checksum database.
//
// The go command asks for the list of a module's versions, then for the .info, the .mod and
// the .zip of one, and compares what it got with the checksum database, which it reaches
// below the proxy's own address. Parse knows these paths. Branches and commits are no
// versions and are not looked up.
//
// The checksum database says two things of a version. Its record holds the hashes of the
// .mod and the .zip, which Inspect compares. The number of the record says how old these
// bytes are at least, because records are only ever appended, and each head of the database
// is signed: a version whose number lies below the size of a head that this host held last
// month is a month old, whatever date its author wrote into it. Heads remembers the heads.
// A date of the author's that is younger still counts.
//
// A private module proxy has no checksum database, or one that does not know the modules
// that belong to this origin only. Their versions have no age and no hash, and what they
// were when they were seen first has to do.
//
// Refusals have the status 403: the go command stops there and prints the reason, where it
// would try elsewhere after a 404.
package gomod

// Package gomod is an agent's way to Go modules: a module proxy with its checksum database.
//
// The go command asks for the list of a module's versions, then for the .info, the .mod and
// the .zip of one, and compares these with the checksum database, which it reaches below the
// proxy's own address. Parse knows these paths. Branches and commits are not versions and are
// not looked up.
//
// The checksum database tells two things about a version. Its record holds the hashes of the
// .mod and the .zip, which Inspect compares. The record's number gives these bytes a minimum
// age, because records are only ever appended and each head of the database is signed: if the
// number is smaller than the size of a head that this host held last month, the version is a
// month old, whatever date its author wrote into it. Heads remembers the heads. An author's
// date counts only if it makes the version younger.
//
// A private module proxy has no checksum database, or one that does not know the modules which
// belong to this origin only. Their versions have no age and no hash. They can only be compared
// with what was seen the first time.
//
// Refusals have the status 403: the go command then stops and prints the reason, whereas after
// a 404 it would try elsewhere.
package gomod

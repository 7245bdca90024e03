// Package apt is an agent's way to Debian packages: apt's repositories, verified on the host
// as apt verifies them.
//
// Everything in a repository depends on one signature. A distribution, such as "stable", has a
// Release (or an InRelease, which is the same with its signature inside). The Release lists the
// hashes of the indexes, and an index, called Packages or Sources, lists the hashes of packages. So
// the signature is verified with the keyrings that the person has for the origin, the index is
// compared with the Release, and a package is accepted if an index lists it. Anything that no
// verified Release leads to is refused without asking the repository.
//
// Age says nothing here. What counts is the signature, and that a distribution never goes back: a
// Release that is older than the last one, or has expired, is refused. Seen remembers the last
// Release and which indexes agents got; packages are looked up in these.
//
// The state of an archive is kept in memory. If it is missing, it is rebuilt from the documents.
package apt

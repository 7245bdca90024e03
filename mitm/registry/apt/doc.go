// Package apt is an agent's way to Debian packages: apt's repositories, verified on the host
// as apt verifies them.
//
// Everything in a repository hangs on one signature. A distribution, such as "stable", has a
// Release (or an InRelease, which is the same with its signature inside), which lists the
// hashes of its indexes. An index called Packages or Sources lists the hashes of packages.
// So the signature is checked with the keyrings that the person has for the origin, the
// index is compared with the Release, and a package is known when an index names it.
// Whatever no verified Release leads to is refused without asking the repository.
//
// Age says nothing here: the signature does, and that a distribution does not go backwards.
// A Release that is older than the last one, or no longer valid, is refused. Seen remembers
// the last one, and which indexes agents were given: packages are looked up in these.
//
// What is known of an archive is kept in memory and made again of its documents when it is
// missing.
package apt

// Package learn finds out which package registries this machine uses.
//
// No registry is compiled into the program. Each tool of the person is asked for its own: npm
// and yarn, pip and uv, go, and cargo, which prints none and is therefore listened to while it
// looks for a package. They run in an empty directory, with the variables that their
// configuration needs and no other, for a bounded time. Where a registry keeps its artifacts is
// read from one of its documents.
//
// What was learned is kept in a file of the state directory. A later "registry learn" shows the
// differences; nothing follows them by itself, because a changed dot file must not move a registry.
package learn

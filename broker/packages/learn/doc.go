// Package learn finds out which package registries this machine uses.
//
// No registry is compiled into the program. Instead, each of the person's tools is asked for its
// own: npm and yarn, pip and uv, go and apt. Cargo does not print its registry, so it looks for a
// package through a proxy that records the request. Tools run in an empty directory, with only the
// variables that their configuration needs, for a bounded time. One document of each registry says
// where it keeps its artifacts.
//
// The result is kept in a file of the state directory. A later "registry learn" shows the
// differences but does not apply them, because a changed dot file must not move a registry.
package learn

// Package registry is an agent's way to package registries: npm, Python, Go, Cargo, apt.
//
// The agent's package manager runs unchanged. It asks the registries that it knows for
// documents, which list the versions of a package, and for artifacts, the packages
// themselves. Package mitm terminates the connection and hands each request to a Session of
// this package. A request passes in this order:
//
//  1. An Ecosystem reads it (Parse). It knows the few paths by which packages are read, in
//     one spelling each, and refuses everything else: nothing is published.
//  2. The request that goes upstream is written from what was read. No byte of the agent's
//     head or query leaves.
//  3. A document is stored on disk and read once. Versions that the judge holds back are left
//     out of what the agent gets, so its package manager takes older ones.
//  4. An artifact is identified by the document that lists it, not by its file name. It is
//     downloaded, compared with the listed digests, inspected and judged. If a person has to
//     decide, the request waits.
//  5. It is recorded and released.
//
// The caller passes in everything that concerns files of the host, rules or people.
package registry

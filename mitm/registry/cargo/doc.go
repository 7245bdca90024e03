// Package cargo reads what cargo asks of a registry with a sparse index, and what the
// registry answers.
//
// The index is one document for each crate, at a path that is made of the crate's name in
// small letters; each line is a version, with the digest of its archive. Where archives are
// is not in it: config.json, beside the documents, has a template for their addresses. So an
// archive is known by both. Its path only says which crate that might be.
package cargo

import "github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"

// Ecosystem is the registry.Ecosystem of cargo. An origin's URL is that of the sparse index,
// without "sparse+".
type Ecosystem struct{}

var _ registry.Ecosystem = Ecosystem{}

// Name is "cargo".
func (Ecosystem) Name() string { return "cargo" }

// Package cargo reads what cargo asks of a registry with a sparse index, and what the
// registry answers.
//
// The index has one document for each crate, at a path that is made of the crate's name in lower
// case. Each line is a version, with the digest of its archive. The addresses of the archives come
// from a template in config.json, beside the documents. So an archive is identified by both; its
// path only says which crate it might belong to.
package cargo

import "github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"

// Ecosystem is the registry.Ecosystem of cargo. An origin's URL is that of the sparse index,
// without "sparse+".
type Ecosystem struct{}

var _ registry.Ecosystem = Ecosystem{}

// Name is "cargo".
func (Ecosystem) Name() string { return "cargo" }

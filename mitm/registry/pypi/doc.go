// Package pypi reads what pip, uv and poetry ask of a Python package index, and what the
// index answers.
//
// A project has one document, /simple/NAME/, in one of two forms: JSON, with times and sizes,
// or HTML, which has neither. It lists files, and each file's version is in its name. This
// package always asks for JSON and takes HTML from an index that has nothing else; the client
// gets the form that it asked for. JSON is written from JSON by copying ranges of bytes; in
// every other case the document is written anew from what was read. poetry also asks for
// /pypi/NAME/json and /pypi/NAME/VERSION/json, whose files are served if the first document
// lists them as well.
//
// A wheel or a source archive is identified by the document that lists its address. Its file name
// only says which document that should be.
package pypi

import "github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"

// Ecosystem is the registry.Ecosystem of Python.
//
// An origin's URL is the address of the index as pip has it, such as
// "https://mirror.example/api/pypi/all/simple/", or what is above its "simple/". Only with the
// latter can there be the documents that poetry asks for.
type Ecosystem struct{}

var _ registry.Ecosystem = Ecosystem{}

// Name is "pypi".
func (Ecosystem) Name() string { return "pypi" }

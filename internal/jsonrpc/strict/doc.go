// Package strict takes JSON-RPC messages apart.
//
// Decode takes a line of an untrusted client apart and refuses whatever two readers
// could understand differently: a batch, a member that JSON-RPC does not know, an id
// that is neither a text nor a whole number. Open takes what a server says as far as
// it can be understood. Both leave parameters and results the bytes they were.
//
// It is no part of jsonrpc, because the tables that it compares names with would make
// the bridge a tenth larger, which reads nothing strictly.
package strict

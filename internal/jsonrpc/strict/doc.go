// Package strict decodes JSON-RPC messages.
//
// Decode decodes a line of an untrusted client and refuses everything that two readers
// could understand differently: a batch, a member that JSON-RPC does not know, an id that
// is neither a text nor a whole number. Open decodes a line of a server as far as
// possible. Neither changes the bytes of parameters and results.
//
// It is not part of jsonrpc, because its tables for comparing names would make the bridge,
// which does not need them, a tenth larger.
package strict

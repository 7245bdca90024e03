// Package jsonrpc reads and writes JSON-RPC 2.0 messages, one a line, between
// programs of which one may not trust the other.
//
// A Reader takes lines of a bounded length from a stream and can charge them to a
// budget. A Writer writes whole lines, those that wait in one write. Messages are
// taken apart by package strict.
package jsonrpc

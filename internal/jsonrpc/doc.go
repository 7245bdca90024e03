// Package jsonrpc reads and writes JSON-RPC 2.0 messages, one per line, between programs
// that need not trust each other.
//
// A Reader reads lines of bounded length from a stream and can charge them to a budget. A
// Writer writes whole lines, and all waiting lines in one write. Package strict decodes the
// messages.
package jsonrpc

// Package scripted is a model provider whose model is a script. It listens on
// the loopback interface with TLS of its own, demands keys of its own and speaks
// the wire formats of several providers for real, Anthropic's Messages, OpenAI's
// Responses and Chat Completions and Google's Gemini: streams of server-sent events,
// tool calls, token counts, errors in each provider's shape. What it answers is decided
// by one line in the agent's prompt, so a real agent can be shown, and tested,
// without an account anywhere.
//
// An order is one line: "read PATH", "write PATH TEXT", "list PATH", "push", "run COMMAND", "batch
// N" or "say TEXT". Each except "say" is carried out by exactly one tool call. The tool is chosen
// from those that the same request offers, and its input is filled in by the names of its schema.
// The call runs a program for "batch N", and where no other tool is offered. When the result comes
// back, the script says in a sentence how the call ended and quotes it. Any other text gets an
// answer that says what is speaking and lists the orders. What Claude Code passes on while an order is
// carried out is answered after it.
//
// A request is answered in three steps: a wire format (anthropic.go) decodes its body into a
// conversation, reply decides on an answer, and the wire format writes that answer back. Another
// format is one more file that does these two translations and a line in wire.go; the script stays
// as it is.
//
// Beside keys it knows logins, for Anthropic's and ChatGPT's formats: access tokens
// that can be revoked, and a token service whose refresh tokens work once.
//
// The package imports nothing of the rest of the tree: to the broker it is an
// upstream like any other, reached over TLS with a key that the agent never sees.
package scripted

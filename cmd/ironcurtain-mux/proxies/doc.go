// Package proxies is the command proxy: it runs the tool proxy or the model proxy without the
// multiplexer, for agents that are started in other ways. It also drafts annotations, because that
// starts a tool server outside a session, too.
//
// The tool proxy serves standard input, a socket or a TCP port with a token. Its calls are approved
// by the person at the terminal, or by whoever may write to a directory.
package proxies

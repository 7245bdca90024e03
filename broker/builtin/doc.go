// Package builtin is our own agent. Its model has one tool, which runs a program
// (broker/codemode). Whatever else the model does, it does by calls of that program.
//
// The agent is trusted no more than any other. It has no key: its requests to the model go
// through the session's proxy with a sentinel, and its programs go to the session's policy
// proxy. A conversation is a file. Each message is added to it before it takes effect, so
// that the file is complete after a crash. This package is the loop between the model and the
// programs. Package view shows it to the person; the loop reports to it by Events.
package builtin

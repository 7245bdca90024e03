// Package builtin is an agent of our own. Its model has one tool, which runs a program
// (broker/codemode); everything else that it can do, it does as a program's calls.
//
// The agent is trusted no more than any other. It holds no key: its requests to the model go
// through the session's proxy with a stand-in key, its programs go to the session's policy
// proxy. A conversation is a file to which each message is added before it is acted on, so
// that what has happened is known after a crash, too. This package is the loop between the
// model and the programs; what a person sees of it is package view, and Event is what they
// have in common.
package builtin

// Package wiring makes the parts of a multiplexer from the person's configuration and connects
// them.
//
// FindPaths finds the directories of the program, LoadConfig reads config.json in them, and
// Paths.Wire makes the parts that config.json describes: agents, providers and their credentials,
// the person's own tool servers, the policy. Parts.Open starts the trusted process with these parts.
// TabFlags are the flags by which a person asks for a tab; they are checked before anything is
// created.
package wiring

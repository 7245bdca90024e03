// Package policies is the command policy: it compiles a policy from plain English, judges calls
// offline as a session would, and explains verdicts.
//
// Flags are the files by which calls are judged. Each subcommand is in the file of its name.
// Compiling asks a model; package compile checks its proposals.
package policies

// Package policies is the command policy: compiling a policy from plain English, judging calls
// offline as a session would, and saying why.
//
// Flags names the files by which calls are judged; each subcommand stands in the file of its
// name. Compiling asks a model, whose proposals pass the checks of package compile.
package policies

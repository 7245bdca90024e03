// Package cli is what every command has in common: how an error becomes one line and an exit
// code, how text of others is made fit for a terminal, and which build this is.
//
// A command returns an error of Fail, or of Usagef when the command line is wrong. Report prints
// it and returns the exit code. Whatever an agent, a file or a server wrote passes SafeName,
// SafeText or PrintJSON before it is printed.
package cli

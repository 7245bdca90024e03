// Package cli is what every command has in common: it turns an error into one line and an exit
// code, makes text from outside safe for a terminal, and describes this build.
//
// A command returns an error of Fail, or of Usagef when the command line is wrong. Report prints
// it and returns the exit code. Text that an agent, a file or a server wrote is printed through
// SafeName, SafeText or PrintJSON.
package cli

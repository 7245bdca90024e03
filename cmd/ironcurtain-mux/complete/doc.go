// Package complete tells a shell what the arguments of commands can be: sessions, calls that wait,
// agents, servers.
//
// It asks the daemon of the home if one runs, for no more than a second, and never starts one.
// Without an answer there is nothing to complete, and nothing is said.
package complete

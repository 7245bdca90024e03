// Package complete completes the arguments of commands in a shell: sessions, waiting calls, agents,
// servers.
//
// It asks the daemon of the home if one runs, for at most a second, and never starts one. Without
// an answer it completes nothing, and reports no error.
package complete

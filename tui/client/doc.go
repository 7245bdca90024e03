// Package client is the process beside a person when a daemon shows the view. It passes its
// terminal to the daemon and waits. It has no part in what is typed and drawn; it is there for
// what only it can do: signals of its terminal, programs that belong in the foreground there,
// and the terminal's state if the daemon dies.
package client

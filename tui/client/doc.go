// Package client is the process beside a person when a daemon shows the view. It passes its
// terminal to the daemon and waits. It neither reads keys nor draws; it does what only a process of
// that terminal can do: report its signals, run programs in its foreground, and restore its state
// if the daemon dies.
package client

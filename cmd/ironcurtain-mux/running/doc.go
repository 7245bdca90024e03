// Package running reaches the daemon of a home.
//
// ClientOptions say where it is and who asks, StartDaemon starts it when it does not run, and Ask
// connects to it for a call: which sessions there are, what waits, a decision.
package running

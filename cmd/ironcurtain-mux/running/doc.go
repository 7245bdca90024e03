// Package running reaches the daemon of a home.
//
// ClientOptions returns how to reach it, StartDaemon starts it if none runs, and Ask connects to it
// for a call, such as listing sessions or deciding a waiting call.
package running

// Package daemon serves clients: processes beside a person, each of which passes the daemon its
// terminal. For each client the daemon runs a view, the user interface, on that terminal. When a
// view ends, for whatever reason, nothing else does: sessions, their screens and waiting calls
// belong to the daemon.
package daemon

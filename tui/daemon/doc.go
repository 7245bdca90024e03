// Package daemon serves clients: processes beside a person, each with a terminal that it passes
// here. For each it runs a view, the user interface, on that terminal. A view that ends, for
// whatever reason, takes nothing with it: sessions, their screens and the calls that wait are
// the daemon's.
package daemon

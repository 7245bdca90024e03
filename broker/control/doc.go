// Package control lets other commands speak to a running multiplexer. It
// serves a few of the broker's methods as HTTP with JSON bodies over a Unix
// socket that only the same user may use: the socket is 0600, and the kernel's
// word on who is at the other end is checked for every connection.
package control

package main

import (
	"io"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// clientAt is this process as a client of itself, with the terminal at its input.
func clientAt(in io.Reader) broker.Client {
	name, _ := os.Hostname() // a client may have no name
	return identity.New(name, terminalName(in))
}

// terminalName is the device of the terminal that a stream is; empty for none.
func terminalName(stream io.Reader) string {
	if f := terminalIn(stream); f != nil {
		return outer.Device(f)
	}
	return ""
}

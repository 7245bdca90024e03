package running

import (
	"io"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/identity"
	"github.com/ironcurtain-mux/ironcurtain-mux/cmd/ironcurtain-mux/cli"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// ClientAt is this process as a client of itself, with the terminal at its input.
func ClientAt(in io.Reader) broker.Client {
	name, _ := os.Hostname() // a client may have no name
	return identity.New(name, TerminalName(in))
}

// TerminalName is the device of the terminal that a stream is; empty for none.
func TerminalName(stream io.Reader) string {
	if f := cli.TerminalIn(stream); f != nil {
		return outer.Device(f)
	}
	return ""
}

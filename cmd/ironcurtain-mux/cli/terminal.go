package cli

import (
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/outer"
)

// TerminalIn returns the stream as a file if it is a terminal, or nil.
func TerminalIn(stream any) *os.File {
	if f, isFile := stream.(*os.File); isFile && outer.IsTerminal(f) {
		return f
	}
	return nil
}

// Command ironcurtain-mux-code runs one program of an agent, in a process that can do nothing
// except ask its host for tool calls. Only ironcurtain-mux starts it.
package main

import (
	"fmt"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode/isolate"
)

func main() {
	if err := isolate.Main(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ironcurtain-mux-code:", err)
		os.Exit(1)
	}
}

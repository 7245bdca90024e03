// Command ironcurtain-mux is a terminal multiplexer for coding agents that
// are not trusted: each tab runs one agent in a container without network,
// capabilities or credentials, and everything the agent wants from the outside
// passes the policy and, where the policy says so, the person.
//
// The command tree is in root.go. Packages wiring, running and cli have what commands share;
// groups of commands have packages of their own. Only these packages import all others.
package main

import (
	"context"
	"io"
	"log"
	"os"
)

func main() {
	// net/http and other libraries write to the standard log, even unexpected bytes of a server.
	// Such output would disturb the screen, and would not be redacted.
	log.SetOutput(io.Discard)
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

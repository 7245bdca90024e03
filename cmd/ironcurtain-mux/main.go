// Command ironcurtain-mux is a terminal multiplexer for coding agents that
// are not trusted: each tab runs one agent in a container without network,
// capabilities or credentials, and everything the agent wants from the outside
// passes the policy and, where the policy says so, the person.
//
// The command tree is in root.go. What commands share is in wiring, running and cli; groups of
// commands have folders. Together they are the one place that knows every other package.
package main

import (
	"context"
	"io"
	"log"
	"os"
)

func main() {
	// net/http and other libraries log by themselves, even unexpected bytes of a server.
	// Such a log would go to the screen that we draw, and past the redaction of secrets.
	log.SetOutput(io.Discard)
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Package identity says which client decided or asked for something, for whoever looks later.
package identity

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// The ways in which a person decides at a view; other ways have names of their own.
const (
	ByLine = "tui"     // with a command on the command line
	ByKey  = "tui-key" // with one key in the approval panel
)

// Client is a process beside a person: one that shows a view in a terminal, or a command. The
// zero value is no client.
type Client struct {
	ID       string `json:"id"`                 // random, and never used again
	Name     string `json:"name,omitempty"`     // of its machine
	Terminal string `json:"terminal,omitempty"` // its device, such as /dev/pts/3
}

// maxText is the length in bytes of the longest name that is kept.
const maxText = 64

// New returns a client that there has never been. The client itself may have said its name and
// its terminal.
func New(name, terminal string) Client {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return Client{ID: hex.EncodeToString(b[:]), Name: short(name), Terminal: short(terminal)}
}

func short(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "")
}

// String returns what people call the client, such as "workstation at pts/3". It may contain
// what the client wants it to.
func (c Client) String() string {
	name, terminal := c.Name, strings.TrimPrefix(c.Terminal, "/dev/")
	switch {
	case c == Client{}:
		return ""
	case name == "":
		name = "client " + c.ID
	}
	if terminal == "" {
		return name
	}
	return name + " at " + terminal
}

// Decider returns what people call whoever decided by one of the ways ByLine, ByKey, "cli" and
// so on, with this client.
func (c Client) Decider(by string) string {
	switch {
	case c == Client{}:
		return by
	case by == ByLine: // the way that needs no word
		return c.String()
	case by == ByKey:
		return c.String() + " with one key"
	}
	return by + " (" + c.String() + ")"
}

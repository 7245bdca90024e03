// Package identity says which client decided or requested something, for records and lists.
package identity

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
)

// The ways in which a person decides at a view. Other ways have other names, such as "cli".
const (
	ByLine = "tui"     // with a command on the command line
	ByKey  = "tui-key" // with one key in the approval panel
)

// Client is a process at a person's side: one that shows a view in a terminal, or a command. The zero
// value means no client.
type Client struct {
	ID       string `json:"id"`                 // random, so unique
	Name     string `json:"name,omitempty"`     // of the client's machine
	Terminal string `json:"terminal,omitempty"` // device, such as /dev/pts/3
}

// maxText is the length to which names are cut, in bytes.
const maxText = 64

// New returns a client with a new ID. name and terminal may come from the client itself, so they are
// not trusted.
func New(name, terminal string) Client {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return Client{ID: hex.EncodeToString(b[:]), Name: short(name), Terminal: short(terminal)}
}

func short(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "")
}

// String names the client for people, such as "workstation at pts/3". It is not trusted.
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

// Decider names for people who has decided: the client, and by which way unless that is ByLine.
func (c Client) Decider(by string) string {
	switch {
	case c == Client{}:
		return by
	case by == ByLine: // the usual way is not mentioned
		return c.String()
	case by == ByKey:
		return c.String() + " with one key"
	}
	return by + " (" + c.String() + ")"
}

//go:build !linux

package desk

import (
	"context"
	"errors"
	"net"
	"os"
)

// errElsewhere is the error on systems without locked processes.
var errElsewhere = errors.New("this system has no locked processes")

// Host is the host's side of a desk.
type Host struct{ Process *os.File }

// Open makes a desk.
func Open(any) (*Host, error) { return nil, errElsewhere }

// Serve hands out connections.
func (*Host) Serve(context.Context, func(context.Context) (*net.UnixConn, error)) {}

// Close ends the desk.
func (*Host) Close() error { return nil }

// Descriptor returns a connection as a file.
func Descriptor(*net.UnixConn) (*os.File, error) { return nil, errElsewhere }

// Process is the process' side of a desk.
type Process struct{}

// At returns the desk at a descriptor of the process.
func At(uintptr) *Process { return &Process{} }

// Settings reads the settings, the host's first message.
func (*Process) Settings(any) error { return errElsewhere }

// Dial gets a connection.
func (*Process) Dial(context.Context) (net.Conn, error) { return nil, errElsewhere }

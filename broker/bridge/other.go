//go:build !linux

package bridge

import (
	"errors"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
)

// errNoContainer is the error of what works in containers only.
var errNoContainer = errors.New("containers run Linux")

// Look fails: containers run Linux.
func Look() (seen.Seen, error) { return seen.Seen{}, errNoContainer }

// Hide fails: containers run Linux.
func Hide() error { return errNoContainer }

func openTerminal() (master, tty *os.File, err error) { return nil, nil, errNoContainer }

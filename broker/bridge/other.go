//go:build !linux

package bridge

import (
	"errors"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach/seen"
)

// errNoContainer says that this is no system of a container.
var errNoContainer = errors.New("containers run Linux")

// Look is for containers.
func Look() (seen.Seen, error) { return seen.Seen{}, errNoContainer }

// Hide is for containers.
func Hide() error { return errNoContainer }

func openTerminal() (master, tty *os.File, err error) { return nil, nil, errNoContainer }

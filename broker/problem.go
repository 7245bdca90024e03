package broker

import "fmt"

// Problem is an error with the next thing to do.
type Problem struct {
	Err  error
	Next string
}

func (p *Problem) Error() string { return p.Err.Error() }
func (p *Problem) Unwrap() error { return p.Err }

// Hint is the next thing to do.
func (p *Problem) Hint() string { return p.Next }

// problemf makes a Problem from a next step and a message.
func problemf(next, format string, args ...any) error {
	return &Problem{Err: fmt.Errorf(format, args...), Next: next}
}

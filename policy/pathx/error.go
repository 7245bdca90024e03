package pathx

import "fmt"

// Error is the reason why a path was refused. It quotes nothing of the path.
type Error struct{ Reason string }

func (e *Error) Error() string { return e.Reason }

func refuse(format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...)}
}

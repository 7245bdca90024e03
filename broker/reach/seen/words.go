package seen

import (
	"fmt"
	"strings"
)

// User says in words which numbers the container's user has.
func (s Seen) User() string {
	uid := s.UIDs[0]
	outside, ok := s.Outside(uid)
	switch {
	case !ok:
		return fmt.Sprintf("%d in the container, nobody there", uid)
	case outside == int64(uid):
		return fmt.Sprintf("%d in the container and there", uid)
	}
	return fmt.Sprintf("%d in the container, %d there", uid, outside)
}

// Isolation says in words what Judge has found, with its warnings.
func Isolation(warnings []string) string {
	return strings.Join(append([]string{"no network, no capabilities, read-only root, seccomp"}, warnings...), "; ")
}

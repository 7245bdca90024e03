package seen

import (
	"fmt"
	"strings"
)

// User says which number the container's user has inside and outside it.
func (s Seen) User() string {
	uid := s.UIDs[0]
	outside, ok := s.Outside(uid)
	switch {
	case !ok:
		return fmt.Sprintf("%d in the container, nobody outside", uid)
	case outside == int64(uid):
		return fmt.Sprintf("%d in the container and outside", uid)
	}
	return fmt.Sprintf("%d in the container, %d outside", uid, outside)
}

// Isolation describes a container that Judge has accepted with these warnings.
func Isolation(warnings []string) string {
	return strings.Join(append([]string{"no network, no capabilities, read-only root, seccomp"}, warnings...), "; ")
}

package agent

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The ways in which a terminal sends Ctrl-Z: as a control character, and in the
// two encodings that programs can ask for.
const suspendByte = 0x1a

var (
	suspendXterm = []byte("\x1b[27;5;122~")
	kittyKey     = regexp.MustCompile(`\x1b\[([0-9:]+);([0-9]+)(?::[0-9]+)?(?:;[0-9:]*)?u`)
)

// The modifiers of the kitty keyboard protocol, without the locks.
const kittyControl, kittyLocks = 4, 64 | 128

// WithoutSuspend removes Ctrl-Z from what is typed into an agent, and reports whether it was there.
// It does not change the given bytes.
func WithoutSuspend(typed []byte) (rest []byte, found bool) {
	rest = bytes.ReplaceAll(typed, []byte{suspendByte}, nil)
	rest = bytes.ReplaceAll(rest, suspendXterm, nil)
	rest = kittyKey.ReplaceAllFunc(rest, func(key []byte) []byte {
		if isSuspend(kittyKey.FindSubmatch(key)) {
			return nil
		}
		return key
	})
	return rest, len(rest) != len(typed)
}

// isSuspend reports whether a key in the kitty protocol is Ctrl-Z, in the keyboard's own
// layout or in the base layout.
func isSuspend(parts [][]byte) bool {
	modifiers, err := strconv.Atoi(string(parts[2]))
	if err != nil || (modifiers-1)&^kittyLocks != kittyControl {
		return false
	}
	return slices.Contains(strings.Split(string(parts[1]), ":"), "122")
}

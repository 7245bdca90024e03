package dirtree

import "unicode/utf8"

// maxShown is the longest path in a message, in bytes.
const maxShown = 160

// Short returns a path for a message, without the middle of a long one.
func Short(path string) string {
	if len(path) <= maxShown {
		return path
	}
	head, tail := path[:maxShown*2/3], path[len(path)-maxShown/3:]
	for len(head) > 0 && !utf8.ValidString(head[max(0, len(head)-utf8.UTFMax):]) {
		head = head[:len(head)-1]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return head + "…" + tail
}

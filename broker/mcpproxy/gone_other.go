//go:build !linux

package mcpproxy

import "io"

// gone reports false, because these systems do not show whether a peer can still receive.
func gone(io.ReadWriteCloser) bool { return false }

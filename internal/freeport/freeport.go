// Package freeport finds a port for a program that a test starts and that must be told one.
//
// The kernel gives a port that was just free to whoever asks it for any, which may be another
// test. So the ports that are found lie below those that it gives away by itself.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Find returns a port of the loopback interface that nothing listens on, and that the kernel gives
// to nobody who does not name it.
func Find(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 20_000 + rand.IntN(10_000)                             //nolint:gosec // no secret
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)) //nolint:noctx // it is closed at once
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

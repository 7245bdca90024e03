// Package freeport finds a port for a program that a test starts and that needs a fixed port.
//
// When a program asks for any port, the kernel may choose one that a test has just found to be free.
// So this package uses ports below the range from which the kernel chooses.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Find returns a port of the loopback interface on which nothing listens, and which the kernel does not
// choose by itself.
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

package main

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/alone"
)

func TestMemoryIsHidden(t *testing.T) {
	if !alone.Run(t) {
		return
	}
	if err := hideMemory(); err != nil {
		t.Fatal(err)
	}
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
		t.Errorf("%d, %v", dumpable, err)
	}
}

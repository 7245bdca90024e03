//go:build !linux

package nonblock

import "os"

// kernelSync is for Linux.
type kernelSync struct{ end *Stream }

func newKernelSync(*os.File) *kernelSync { return nil }

func (k *kernelSync) begin() bool   { return false }
func (k *kernelSync) result() error { return nil }
func (k *kernelSync) release()      {}

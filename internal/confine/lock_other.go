//go:build !linux || !(amd64 || arm64)

package confine

// Lock fails: there is no lock for this system.
func Lock(Limits) error { return ErrUnavailable }

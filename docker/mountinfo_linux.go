package docker

import "os"

// mountinfo lists what is mounted.
func mountinfo() ([]byte, error) { return os.ReadFile("/proc/self/mountinfo") }

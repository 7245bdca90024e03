package machine

import "golang.org/x/sys/unix"

// machineID returns the system's ID of this machine, or "".
func machineID() string {
	uuid, err := unix.Sysctl("kern.uuid")
	if err != nil {
		return ""
	}
	return uuid
}

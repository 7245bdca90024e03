package docker

import "golang.org/x/sys/unix"

// machineNumber is what the system has numbered this machine with; "": it has not.
func machineNumber() string {
	number, err := unix.Sysctl("kern.uuid")
	if err != nil {
		return ""
	}
	return number
}

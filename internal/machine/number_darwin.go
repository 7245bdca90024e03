package machine

import "golang.org/x/sys/unix"

// number is what the system has numbered this machine with; "": it has not.
func number() string {
	uuid, err := unix.Sysctl("kern.uuid")
	if err != nil {
		return ""
	}
	return uuid
}

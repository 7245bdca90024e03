package machine

import (
	"os"
	"strings"
)

// number is what the system has numbered this machine with when it was installed; "": it has not.
func number() string {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if text, err := os.ReadFile(path); err == nil && len(strings.TrimSpace(string(text))) == 32 {
			return strings.TrimSpace(string(text))
		}
	}
	return ""
}

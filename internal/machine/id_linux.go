package machine

import (
	"os"
	"strings"
)

// machineID returns the ID that this machine got when its system was installed, or "".
func machineID() string {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		if text, err := os.ReadFile(path); err == nil && len(strings.TrimSpace(string(text))) == 32 {
			return strings.TrimSpace(string(text))
		}
	}
	return ""
}

package bridge

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// MountsVariable is the environment variable that says which mounts to check.
const MountsVariable = "IRONCURTAIN_MOUNTS"

// Mount is a mounted directory or file, and what the host has found at its source. The engine looks
// the source up again later, and meanwhile an agent that can write to the directory above may have put
// a link there.
type Mount struct {
	Path          string // in the container
	Device, Inode uint64 // of the source
}

// DescribeMounts returns the value of MountsVariable. The first mount must be one that no agent can
// change: it shows whether device and inode numbers in the container are those of the host. In a
// virtual machine they are not, and then nothing can be compared.
func DescribeMounts(mounts []Mount) string {
	var b strings.Builder
	for _, m := range mounts {
		fmt.Fprintf(&b, "%d %d %s\n", m.Device, m.Inode, strconv.Quote(m.Path))
	}
	return b.String()
}

// CheckMounts compares the mounts with their description.
func CheckMounts(description string) error {
	for i, line := range strings.Split(strings.TrimSuffix(description, "\n"), "\n") {
		if line == "" {
			continue
		}
		want, err := parseMount(line)
		if err != nil {
			return err
		}
		var is syscall.Stat_t
		if err := syscall.Lstat(want.Path, &is); err != nil {
			return fmt.Errorf("check mount %s: %w", want.Path, err)
		}
		if uint64(is.Dev) == want.Device && is.Ino == want.Inode { //nolint:unconvert // its type differs between systems
			continue
		}
		if i == 0 {
			return nil
		}
		return fmt.Errorf("%s is not what was to be mounted there: it was replaced in the meantime. End other agents that work there, and try again", want.Path)
	}
	return nil
}

func parseMount(line string) (Mount, error) {
	fields := strings.SplitN(line, " ", 3)
	if len(fields) != 3 {
		return Mount{}, errors.New("the description of a mount is malformed")
	}
	device, err1 := strconv.ParseUint(fields[0], 10, 64)
	inode, err2 := strconv.ParseUint(fields[1], 10, 64)
	path, err3 := strconv.Unquote(fields[2])
	if err := errors.Join(err1, err2, err3); err != nil {
		return Mount{}, fmt.Errorf("the description of a mount is malformed: %w", err)
	}
	return Mount{Path: path, Device: device, Inode: inode}, nil
}

// TakeMounts returns the description and removes it from the environment, so that the agent does not
// get it.
func TakeMounts() string {
	description := os.Getenv(MountsVariable)
	_ = os.Unsetenv(MountsVariable)
	return description
}

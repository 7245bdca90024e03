package outer

import (
	"fmt"
	"os"
)

func device(fd int) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	return name
}

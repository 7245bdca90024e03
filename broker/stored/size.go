package stored

import (
	"fmt"
	"os"
	"regexp"
	"strconv"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// WriteSize stores the size of an agent's terminal, for the process that takes the agent back.
func WriteSize(l Layout, cols, rows int) error {
	return wholefile.Write(l.Size(), fmt.Appendf(nil, "%dx%d\n", cols, rows), 0o600)
}

var sizePattern = regexp.MustCompile(`^([1-9][0-9]{0,4})x([1-9][0-9]{0,4})\n$`)

// ReadSize returns the size that was stored last, or 0, 0.
func ReadSize(l Layout) (cols, rows int) {
	text, _ := os.ReadFile(l.Size()) // without a size, the next view decides
	m := sizePattern.FindSubmatch(text)
	if m == nil {
		return 0, 0
	}
	cols, _ = strconv.Atoi(string(m[1])) // they are digits
	rows, _ = strconv.Atoi(string(m[2]))
	return cols, rows
}

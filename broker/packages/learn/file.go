package learn

import (
	"os"
	"strings"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/bounded"
)

// maxFileSize bounds a configuration file, in bytes.
const maxFileSize = 1 << 20

// readFile reads a configuration file. It returns nil if the file is missing, too large or not
// regular.
func readFile(path string) []byte {
	data, _ := bounded.ReadFile(os.OpenFile, path, maxFileSize)
	return data
}

// list splits a list at commas and spaces.
func list(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

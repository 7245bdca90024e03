package learn

import (
	"os"
	"strings"
	"syscall"
	"unicode"
)

// maxFileSize bounds a configuration file, in bytes.
const maxFileSize = 1 << 20

// readFile reads a configuration file. One that is missing, too large or no regular file is
// empty.
func readFile(path string) []byte {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFileSize {
		return nil
	}
	data := make([]byte, info.Size())
	n, _ := f.ReadAt(data, 0)
	return data[:n]
}

// list reads a list with commas or spaces.
func list(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

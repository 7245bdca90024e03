package learn

import (
	"os"
	"strings"
	"syscall"
	"unicode"
)

// maxFileSize bounds a configuration file, in bytes.
const maxFileSize = 1 << 20

// readFile reads a configuration file. It returns nil if the file is missing, too large or not
// regular.
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

// list splits a list at commas and spaces.
func list(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
}

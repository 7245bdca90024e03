package pathx

import (
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxListed bounds the names that are looked through for another spelling.
const maxListed = 200_000

// respelled returns the name by which a directory has an entry that is missing under
// this one: "é" can be written as one character or as two. The kernel tells the two
// apart, but the file server does not: it takes the file that is there for the one
// that was asked for. What it will open is what has to be judged. Without such an
// entry the name itself is returned.
func respelled(dir, name string) (string, error) {
	if !hasSpellings(name) {
		return name, nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return "", refuse("the path is not there, and whether it is under another spelling cannot be told")
	}
	defer func() { _ = d.Close() }()
	want, found, seen := norm.NFC.String(name), name, 0
	for {
		entries, err := d.Readdirnames(1024)
		for _, entry := range entries {
			switch {
			case entry == name:
				return name, nil // it has come in the meantime
			case norm.NFC.String(entry) != want:
			case found != name:
				return "", refuse("the path is not there, but several files are whose names are other spellings of it")
			default:
				found = entry
			}
		}
		seen += len(entries)
		switch {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil || seen > maxListed:
			return "", refuse("the path is not there, and whether it is under another spelling cannot be told")
		}
	}
}

// hasSpellings reports whether Unicode has another spelling of a name. Of ASCII only
// the letter K (the sign of kelvin), the semicolon (the Greek question mark) and the
// grave accent have a double.
func hasSpellings(name string) bool {
	for i := 0; i < len(name); i++ {
		if name[i] >= 0x80 || strings.IndexByte("K;`", name[i]) >= 0 {
			return true
		}
	}
	return false
}

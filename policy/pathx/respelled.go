package pathx

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/text/unicode/norm"
)

// maxListed is how many names one view reads to find other spellings.
const maxListed = 200_000

// spellings are the names in a directory that Unicode can spell in several ways, by their
// normal form (NFC), which all spellings of a name share.
type spellings map[string][]string

// respelled returns another spelling under which a directory has a missing name: "é" can
// be one character or two. For the kernel these are different names, but the file server
// opens the existing file. The file that the server opens is the one to judge. If no other
// spelling exists, respelled returns the name itself.
func (v *View) respelled(dir, name string) (string, error) {
	if !hasSpellings(name) {
		return name, nil
	}
	in, known := v.spellings[dir]
	if !known {
		var err error
		if in, err = v.list(dir); err != nil {
			return "", err
		}
	}
	others := in[norm.NFC.String(name)]
	switch {
	case len(others) == 0 || slices.Contains(others, name): // the second: it was created meanwhile
		return name, nil
	case len(others) > 1:
		return "", refuse("the path does not exist, but several files exist whose names are other spellings of it")
	}
	return others[0], nil
}

var errUnlisted = &Error{Reason: "the path does not exist, and it is not known whether it exists in another spelling"}

// list reads the names of a directory that have several spellings, once.
func (v *View) list(dir string) (spellings, error) {
	d, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) // O_DIRECTORY: never blocks on a pipe
	if err != nil {
		return nil, errUnlisted
	}
	defer func() { _ = d.Close() }()
	found := spellings{}
	for {
		entries, err := d.Readdirnames(1024)
		for _, entry := range entries {
			if hasSpellings(entry) {
				form := norm.NFC.String(entry)
				found[form] = append(found[form], entry)
			}
		}
		v.listed += len(entries)
		switch {
		case errors.Is(err, io.EOF):
			if v.spellings == nil {
				v.spellings = map[string]spellings{}
			}
			v.spellings[dir] = found
			return found, nil
		case err != nil || v.listed > maxListed || v.ctx.Err() != nil:
			return nil, errUnlisted
		}
	}
}

// hasSpellings reports whether Unicode has another spelling of a name. The only ASCII
// characters with another spelling are the letter K (kelvin sign), the semicolon (Greek
// question mark) and the grave accent.
func hasSpellings(name string) bool {
	for i := 0; i < len(name); i++ {
		if name[i] >= 0x80 || strings.IndexByte("K;`", name[i]) >= 0 {
			return true
		}
	}
	return false
}

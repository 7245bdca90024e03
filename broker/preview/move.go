package preview

import (
	"errors"
	"io/fs"
	"os"
)

// moveFile returns the effect of moving a file or directory.
func (p *Previewer) moveFile(from, to string) *Effect {
	d := p.newDraft(Move)
	if data, err := readFile(from); err == nil {
		d.fact("source", digest(data))
		d.note("%s, SHA-256 %s", plural(len(data), "byte"), digest(data))
	} else {
		d.note("%s: %v", from, err)
	}
	if _, err := os.Lstat(from); err != nil {
		d.Fails = "the file to be moved does not exist"
	}
	d.needsDirectoryOf(to)
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		d.warn("%s exists already", to)
		d.Fails = "the destination exists already"
	}
	return d.done("moves %s to %s", from, to)
}

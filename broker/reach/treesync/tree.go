package treesync

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Options say which directory a Tree keeps equal, and how.
type Options struct {
	// Name is the tree's name in the container's Server: "home", "workspace".
	Name string
	// Dir is an existing directory on the host. No link below it is followed.
	Dir string
	// Note is the file that stores what both sides agreed on, for the next process; "" keeps it in
	// memory only. If the note is lost no content is: what differs becomes a conflict, and what was
	// deleted comes back. When a volume is replaced by one that is not empty, the note must be
	// removed, or else what the new volume lacks is deleted on the host.
	Note string
	// Fixed are paths that the container cannot change on the host. Its changes at and below
	// them are undone in the container.
	Fixed []string
	// Ours reports whether the host's version of a path replaces the agent's when both have
	// changed, instead of making a conflict; nil means never.
	Ours func(path string) bool
	// OneWay fetches nothing. The host's files are put into the container; its other files stay.
	OneWay bool
	// Wanted reports whether a file, link or directory of the container is fetched; nil means
	// always. It is called for each path by itself; directories that lead to a wanted path are
	// made. What is not wanted stays in the container only.
	Wanted func(path string, size int64) bool
	// limits of both sides. Tests lower them.
	limits limits
}

// limits of one tree; 0 means the default.
type limits struct {
	Files int   // files, links and directories together; 200,000
	Bytes int64 // of all files together; 4 GiB
	Each  int64 // of one file; 256 MiB
}

func (l limits) orDefaults() limits {
	return limits{Files: cmp.Or(l.Files, 200_000), Bytes: cmp.Or(l.Bytes, 4<<30), Each: cmp.Or(l.Each, 256<<20)}
}

// Report is what a Sync did.
type Report struct {
	Fetched, Put int   // paths that were written or deleted on the host, and in the container
	Bytes        int64 // of the files that were sent, both ways
	Conflicts    []Conflict
	Left         []Left // at most maxLeft
	More         int    // how many more were left
	Odd          int    // devices, pipes and sockets in the container, which are not copied
	Dropped      int    // what else is not copied: setuid, setgid and sticky bits, and names that are too long or not UTF-8
}

// Conflict is a path that changed on both sides.
type Conflict struct {
	Path   string // has the agent's version
	Beside string // has the host's version
}

// Left is something that was not fetched from the container.
type Left struct {
	Path, Why string
	Hides     bool // the host has something at or below Path that cannot be put into the container
}

// mostLeft bounds Report.Left.
const maxLeft = 20

func (r *Report) left(path, why string, hides bool) {
	if len(r.Left) == maxLeft {
		r.More++
		return
	}
	r.Left = append(r.Left, Left{path, why, hides})
}

// Tree is one directory of the host, and what is known of its copy in the container. Its Syncs
// run one at a time.
type Tree struct {
	o       Options
	root    *os.Root
	note    *note
	digests *digests
	met     bool          // the container's tree was met with something in it
	turn    chan struct{} // a lock that a context can give up waiting for: holds one token
	// look is Lstat; tests replace it.
	look func(dir *os.Root, name string) (fs.FileInfo, error)
	// written, if not nil, is called for each new file before that gets its name; tests let it fail.
	written func(root *os.Root, path string) error
}

// Open opens a tree.
func Open(o Options) (*Tree, error) {
	o.limits = o.limits.orDefaults()
	for _, path := range o.Fixed {
		if err := checkPath(path); err != nil {
			return nil, fmt.Errorf("copy files of %s: %w", o.Name, err)
		}
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, fault.Wrap("copy files of "+o.Name, err, "")
	}
	n, err := openNote(o.Note)
	if err != nil {
		root.Close()
		return nil, fault.Wrap("read what was copied of "+o.Name, err, "")
	}
	t := &Tree{o: o, root: root, note: n, digests: newDigests(), turn: make(chan struct{}, 1), look: (*os.Root).Lstat}
	t.turn <- struct{}{}
	return t, nil
}

// Close waits for a running Sync, and closes the tree and its note.
func (t *Tree) Close() error {
	if _, open := <-t.turn; !open {
		return nil
	}
	close(t.turn)
	return errors.Join(t.note.close(), t.root.Close())
}

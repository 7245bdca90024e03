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
	// Dir is the directory on this machine, which exists. No link below it is followed.
	Dir string
	// Note is the file that keeps, across processes, what both sides agreed on; "" keeps it in
	// memory only. A lost note loses no content: what differs becomes a conflict, and what was
	// deleted comes back. So whoever makes a volume anew removes the note of the old one, else
	// what the new one lacks is deleted here, unless it is empty.
	Note string
	// Fixed are paths that the container does not change here: what it does to them or below
	// them is undone there.
	Fixed []string
	// Ours tells which paths have ours when both sides have changed them, instead of two files; nil
	// tells of none.
	Ours func(path string) bool
	// OneWay fetches nothing. What is here is put there; what else is there stays.
	OneWay bool
	// Wanted tells which of the container's files, links and directories are fetched; nil wants
	// all. It is asked for each path by itself: a directory on the way to a wanted path is made.
	// What is not wanted is left there, and is not deleted there either.
	Wanted func(path string, size int64) bool
	// limits of the copy here, and of what is put there. Tests lower them.
	limits limits
}

// limits of one tree. A member that is 0 has its default.
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
	Fetched, Put int   // paths that were written or deleted here, and there
	Bytes        int64 // of the files that were sent, both ways
	Conflicts    []Conflict
	Left         []Left // at most 20
	More         int    // what else was left
	Odd          int    // devices, pipes and sockets, which are not carried over
	Dropped      int    // what else is not: bits of setuid, setgid and sticky files, and names that are too long or no UTF-8
}

// Conflict is a path that changed on both sides.
type Conflict struct {
	Path   string // has the agent's
	Beside string // has ours
}

// Left is something that stays in the container alone.
type Left struct {
	Path, Why string
	Hides     bool // what is at Path or below it here, which does not arrive there
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
// run one after another.
type Tree struct {
	o       Options
	root    *os.Root
	note    *note
	digests *digests
	met     bool          // the container's tree was met with something in it
	turn    chan struct{} // holds one token; whoever has it synchronises
	// look is Lstat; tests exchange it.
	look func(dir *os.Root, name string) (fs.FileInfo, error)
	// written is called for what was written here before it gets its name, if not nil; tests let it fail.
	written func(root *os.Root, path string) error
}

// Open opens a tree. The directory exists.
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

// Close waits for a Sync that runs, and closes the tree and its note.
func (t *Tree) Close() error {
	if _, open := <-t.turn; !open {
		return nil
	}
	close(t.turn)
	return errors.Join(t.note.close(), t.root.Close())
}

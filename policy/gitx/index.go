package gitx

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"path/filepath"
)

// maxIndex bounds the index that is looked through.
const maxIndex = 256 << 20

// Bounds of what is kept of an index: in version 4 a few bytes can stand for a long name.
const (
	maxIndexName = 4096 // as long as a path can be
	maxGitlinks  = 10_000
)

// gitlinkMode is the mode of an entry of the index that stands for a commit of
// another repository, whose work tree lies at the entry's place.
const gitlinkMode = 0o160000

// gitlinks returns the places in the work tree where the index has other
// repositories. Git asks those for their state, whether or not anything calls
// them submodules.
func (r *Repo) gitlinks() ([]string, error) { return r.walkIndex(nil) }

// Tracks reports whether the index has a file that is chosen by its name in the work
// tree.
func (r *Repo) Tracks(chosen func(name string) bool) (bool, error) {
	found := false
	_, err := r.walkIndex(func(name []byte) { found = found || chosen(string(name)) })
	return found, err
}

// walkIndex goes through the index, shows each name to each, which may be nil, and
// returns the places of other repositories.
func (r *Repo) walkIndex(each func(name []byte)) ([]string, error) {
	name := filepath.Join(r.GitDir, "index")
	if isDir(name) {
		return nil, nil // git fails over it before it looks anywhere
	}
	data, err := readFile(name, maxIndex)
	if err != nil || data == nil {
		return nil, err
	}
	hash := 20
	if r.own.last("extensions", "", "objectformat") == "sha256" {
		hash = 32
	}
	x := index{data: data, hash: hash, each: each}
	if err := x.read(); err != nil || x.shared == "" {
		return x.links, err
	}
	data, err = readFile(filepath.Join(r.GitDir, "sharedindex."+x.shared), maxIndex)
	if err != nil {
		return nil, err
	}
	base := index{data: data, hash: hash, each: each}
	err = base.read()
	return append(x.links, base.links...), err
}

// index is a walk through the entries of an index file.
type index struct {
	data    []byte
	hash    int // length of an object's name in bytes
	pos     int
	version uint32
	links   []string
	shared  string // the rest of the index is in a file of that name
	each    func(name []byte)
}

func (x *index) read() error {
	const header = 12
	if len(x.data) < header+x.hash || string(x.data[:4]) != "DIRC" {
		return errIndex
	}
	x.version = binary.BigEndian.Uint32(x.data[4:])
	if x.version < 2 || x.version > 4 {
		return errIndex
	}
	x.pos = header
	var name []byte
	for range binary.BigEndian.Uint32(x.data[8:]) {
		mode, next, err := x.entry(name)
		if err != nil {
			return err
		}
		if name = next; x.each != nil {
			x.each(name)
		}
		if mode != gitlinkMode {
			continue
		}
		if len(x.links) == maxGitlinks {
			return errModules
		}
		if len(name) == 0 { // a changed entry of the shared index, whose name is there
			return errIndex
		}
		x.links = append(x.links, string(name))
	}
	return x.extensions()
}

var errIndex = refuse("the index of the repository is malformed")

// entry reads one entry. In version 4 its name continues that of the one before, in the
// same memory.
func (x *index) entry(before []byte) (mode uint32, name []byte, err error) {
	start := x.pos
	fixed := 40 + x.hash + 2
	if len(x.data)-start < fixed+1 {
		return 0, nil, errIndex
	}
	mode = binary.BigEndian.Uint32(x.data[start+24:])
	if x.version >= 3 && x.data[start+fixed-2]&0x40 != 0 {
		fixed += 2
	}
	x.pos = start + fixed
	kept := 0
	if x.version == 4 {
		drop, ok := x.varint()
		if !ok || drop > len(before) {
			return 0, nil, errIndex
		}
		kept = len(before) - drop
	}
	if x.pos > len(x.data) {
		return 0, nil, errIndex
	}
	length := bytes.IndexByte(x.data[x.pos:], 0)
	if length < 0 {
		return 0, nil, errIndex
	}
	if kept+length > maxIndexName {
		return 0, nil, errIndex
	}
	name = x.data[x.pos : x.pos+length]
	if x.version == 4 {
		x.pos += length + 1
		return mode, append(before[:kept], name...), nil
	}
	x.pos = start + (fixed+length+8)/8*8 // with 1 to 8 NUL bytes behind it
	return mode, name, nil
}

// varint reads a number in the form that version 4 has for lengths.
func (x *index) varint() (int, bool) {
	n := 0
	for i := 0; x.pos < len(x.data) && i < 4; i++ {
		c := x.data[x.pos]
		x.pos++
		if n = n<<7 | int(c&0x7f); c&0x80 == 0 {
			return n, true
		}
		n++
	}
	return 0, false
}

// extensions looks for the one that says that the index is split.
func (x *index) extensions() error {
	end := len(x.data) - x.hash
	for x.pos+8 <= end {
		kind := string(x.data[x.pos : x.pos+4])
		size := int(binary.BigEndian.Uint32(x.data[x.pos+4:]))
		x.pos += 8
		if size > end-x.pos {
			return errIndex
		}
		if kind == "link" {
			if size < x.hash {
				return errIndex
			}
			x.shared = hex.EncodeToString(x.data[x.pos : x.pos+x.hash])
		}
		x.pos += size
	}
	return nil
}

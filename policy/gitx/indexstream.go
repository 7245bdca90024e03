package gitx

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
)

// index reads the entries of an index file one by one. Only a buffer of the file is in
// memory.
type index struct {
	view    *View
	hash    int // length of an object ID in bytes
	in      *bufio.Reader
	left    int64 // unread bytes of the file
	version uint32
	links   []string
	size    int    // bytes in links
	shared  string // object ID in the name of the shared index file, if the index is split
	each    func(name []byte)
}

// read reads an index file. It returns false when the file does not exist.
func (x *index) read(file string) (bool, error) {
	f, size, err := openFile(file, maxIndex)
	if err != nil || f == nil {
		return false, err
	}
	defer f.Close()
	if x.view.indexes += size; x.view.indexes > maxIndexes {
		return true, errTooLarge
	}
	return true, x.walk(f, size)
}

// walk reads an index of the given size in bytes.
func (x *index) walk(r io.Reader, size int64) error {
	x.in, x.left = bufio.NewReaderSize(io.LimitReader(r, size), 64<<10), size
	const header = 12
	if x.left < int64(header+x.hash) {
		return errIndex
	}
	head, err := x.take(header)
	if err != nil || string(head[:4]) != "DIRC" {
		return errIndex
	}
	count := binary.BigEndian.Uint32(head[8:])
	if x.version = binary.BigEndian.Uint32(head[4:]); x.version < 2 || x.version > 4 {
		return errIndex
	}
	name := make([]byte, 0, maxIndexName)
	for i := range count {
		if i%1024 == 0 && x.view.ended() != nil {
			return errEnded
		}
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
		if x.size += len(name); len(x.links) >= maxGitlinks || x.size > maxLinkedSize {
			return errModules
		}
		if len(name) == 0 { // it changes an entry of the shared index, which has the name
			return errIndex
		}
		x.links = append(x.links, string(name))
	}
	return x.extensions()
}

// take reads n bytes. They are valid until the next read.
func (x *index) take(n int) ([]byte, error) {
	data, err := x.in.Peek(n)
	if err != nil {
		return nil, errIndex
	}
	x.skip(int64(n))
	return data, nil
}

// skip skips n bytes, or all that are left.
func (x *index) skip(n int64) {
	n = min(n, x.left)
	x.left -= n
	for n > 0 { // Discard takes an int
		done, err := x.in.Discard(int(min(n, 1<<30)))
		if n -= int64(done); err != nil {
			x.left = 0
			return
		}
	}
}

// entry reads one entry. It reuses the memory of the name before, which the new name
// continues in version 4.
func (x *index) entry(before []byte) (mode uint32, name []byte, err error) {
	fixed := 40 + x.hash + 2
	if x.left < int64(fixed)+1 {
		return 0, nil, errIndex
	}
	head, err := x.take(fixed)
	if err != nil {
		return 0, nil, err
	}
	mode = binary.BigEndian.Uint32(head[24:])
	if x.version >= 3 && head[fixed-2]&0x40 != 0 {
		fixed += 2
		x.skip(2)
	}
	kept := 0
	if x.version == 4 {
		drop, ok := x.varint()
		if !ok || drop > len(before) {
			return 0, nil, errIndex
		}
		kept = len(before) - drop
	}
	rest, err := x.in.ReadSlice(0)
	x.left -= int64(len(rest))
	length := len(rest) - 1 // without the NUL
	if err != nil || kept+length > maxIndexName {
		return 0, nil, errIndex
	}
	name = append(before[:kept], rest[:length]...)
	if x.version < 4 { // 1 to 8 NUL bytes follow; one is read already
		x.skip(int64((fixed+length+8)/8*8 - (fixed + length + 1)))
	}
	return mode, name, nil
}

// varint reads a length as version 4 encodes it.
func (x *index) varint() (int, bool) {
	n := 0
	for range 4 {
		c, err := x.in.ReadByte()
		if err != nil {
			return 0, false
		}
		x.left--
		if n = n<<7 | int(c&0x7f); c&0x80 == 0 {
			return n, true
		}
		n++
	}
	return 0, false
}

// extensions looks for the extension that says that the index is split.
func (x *index) extensions() error {
	for x.left-8 >= int64(x.hash) {
		head, err := x.take(8)
		if err != nil {
			return err
		}
		link, size := bytes.Equal(head[:4], []byte("link")), int64(binary.BigEndian.Uint32(head[4:]))
		if size > x.left-int64(x.hash) {
			return errIndex
		}
		if link {
			if size < int64(x.hash) {
				return errIndex
			}
			id, err := x.take(x.hash)
			if err != nil {
				return err
			}
			x.shared = hex.EncodeToString(id)
			size -= int64(x.hash)
		}
		x.skip(size)
	}
	return nil
}

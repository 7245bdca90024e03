package apt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

var errXZ = errors.New("not an xz file with a single stream and small dictionaries")

const (
	xzHead = 12 // bytes of a stream's header
	xzFoot = 12 // bytes of a stream's footer
	// maxXZIndex bounds the index at the end of a stream, in bytes.
	maxXZIndex = 1 << 20
	// maxDictionary bounds the dictionary of a block: "xz -9" needs this much.
	maxDictionary = 64 << 20
)

// checkXZ checks that an xz file is one stream, and that each of its blocks needs a
// dictionary of bounded size. The library takes as much memory as a block's header says,
// which may be 4 GiB in a file of 100 bytes. The index at the end of the stream says where
// the blocks are.
func checkXZ(data io.ReaderAt, size int64) error {
	head, err := at(data, 0, xzHead, size)
	if err != nil || !bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")) {
		return errXZ
	}
	foot, err := at(data, size-xzFoot, xzFoot, size)
	if err != nil || !bytes.HasSuffix(foot, []byte("YZ")) {
		return errXZ
	}
	length := (int64(binary.LittleEndian.Uint32(foot[4:])) + 1) * 4
	start := size - xzFoot - length
	if length > maxXZIndex || start < xzHead {
		return errXZ
	}
	index, err := at(data, start, length, size)
	if err != nil || index[0] != 0 {
		return errXZ
	}
	records, index, ok := varint(index[1:])
	if !ok {
		return errXZ
	}
	block := int64(xzHead)
	for range records {
		var length uint64
		if length, index, ok = varint(index); !ok || length > uint64(size) {
			return errXZ
		}
		if _, index, ok = varint(index); !ok { // the uncompressed size
			return errXZ
		}
		if err := checkBlock(data, block, size); err != nil {
			return err
		}
		if block += (int64(length) + 3) &^ 3; block > start {
			return errXZ
		}
	}
	if block != start {
		return errXZ
	}
	return nil
}

// checkBlock checks the header of a block: one filter, LZMA2, with a bounded dictionary.
func checkBlock(data io.ReaderAt, offset, size int64) error {
	first, err := at(data, offset, 1, size)
	if err != nil || first[0] == 0 {
		return errXZ
	}
	header, err := at(data, offset, (int64(first[0])+1)*4, size)
	if err != nil {
		return err
	}
	flags, rest := header[1], header[2:]
	if flags&0x3f != 0 {
		return errXZ
	}
	ok := true
	for _, told := range []byte{0x40, 0x80} { // the compressed and the uncompressed size
		if flags&told != 0 && ok {
			_, rest, ok = varint(rest)
		}
	}
	const lzma2 = 0x21
	if !ok || len(rest) < 3 || rest[0] != lzma2 || rest[1] != 1 || rest[2] >= 40 {
		return errXZ
	}
	if bits := rest[2]; uint64(2|bits&1)<<(bits/2+11) > maxDictionary {
		return errXZ
	}
	return nil
}

// at reads bytes at an offset of a file of that size.
func at(data io.ReaderAt, offset, length, size int64) ([]byte, error) {
	if offset < 0 || offset+length > size {
		return nil, errXZ
	}
	raw := make([]byte, length)
	if n, err := data.ReadAt(raw, offset); int64(n) < length {
		return nil, err
	}
	return raw, nil
}

// varint reads a number of up to nine bytes.
func varint(data []byte) (uint64, []byte, bool) {
	n, length := binary.Uvarint(data[:min(len(data), 9)])
	if length <= 0 {
		return 0, nil, false
	}
	return n, data[length:], true
}

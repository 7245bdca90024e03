package archive

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"io"
)

const (
	flagEncrypted  = 1 << 0
	flagDescriptor = 1 << 3
	localHead      = 30
	extraZip64     = 1
	extraName      = 0x7075 // another name, which only newer readers use
)

var errLocal = errors.New("an entry of the zip file differs from the file's directory")

// checkLocal compares the local head of an entry with the directory. The head must begin at start
// and end at content. It returns where the entry ends.
func checkLocal(data io.ReaderAt, f *zip.File, start, content int64) (int64, error) {
	if f.Flags&flagEncrypted != 0 || f.Method != zip.Store && f.Method != zip.Deflate {
		return 0, errors.New("an entry of the zip file is encrypted, or compressed in an unusual way")
	}
	length := content - start
	if length < localHead || length > localHead+2*0xffff {
		return 0, errLocal
	}
	head := make([]byte, length)
	if _, err := data.ReadAt(head, start); err != nil {
		return 0, errLocal
	}
	le := binary.LittleEndian
	name, extra := int64(le.Uint16(head[26:])), int64(le.Uint16(head[28:]))
	if string(head[:4]) != "PK\x03\x04" || localHead+name+extra != length ||
		string(head[localHead:localHead+name]) != f.Name ||
		renamed(f.Extra) || renamed(head[localHead+name:]) ||
		le.Uint16(head[8:]) != f.Method || le.Uint16(head[6:])&(flagEncrypted|flagDescriptor) != f.Flags&(flagEncrypted|flagDescriptor) {
		return 0, errLocal
	}
	end := content + int64(f.CompressedSize64)
	if f.Flags&flagDescriptor != 0 {
		return descriptorEnd(data, f, end)
	}
	packed, unpacked := uint64(le.Uint32(head[18:])), uint64(le.Uint32(head[22:]))
	if packed == 0xffffffff || unpacked == 0xffffffff {
		unpacked, packed = zip64Sizes(head[localHead+name:])
	}
	if le.Uint32(head[14:]) != f.CRC32 || packed != f.CompressedSize64 || unpacked != f.UncompressedSize64 {
		return 0, errLocal
	}
	return end, nil
}

// renamed reports whether extra fields have another name, or cannot be read.
func renamed(extra []byte) bool {
	le := binary.LittleEndian
	for len(extra) >= 4 {
		id, size := le.Uint16(extra), int(le.Uint16(extra[2:]))
		if id == extraName || size > len(extra)-4 {
			return true
		}
		extra = extra[4+size:]
	}
	return false
}

// zip64Sizes returns the sizes in the extra fields of an entry's head, or zeros.
func zip64Sizes(extra []byte) (unpacked, packed uint64) {
	le := binary.LittleEndian
	for len(extra) >= 4 {
		id, size := le.Uint16(extra), int(le.Uint16(extra[2:]))
		if extra = extra[4:]; size > len(extra) {
			return 0, 0
		}
		if id == extraZip64 && size == 16 {
			return le.Uint64(extra), le.Uint64(extra[8:])
		}
		extra = extra[size:]
	}
	return 0, 0
}

// descriptorEnd returns the end of the data descriptor, the record with the sizes after an entry's
// content. It has four forms.
func descriptorEnd(data io.ReaderAt, f *zip.File, at int64) (int64, error) {
	record := make([]byte, 24)
	n, err := data.ReadAt(record, at)
	if err != nil && err != io.EOF {
		return 0, errLocal
	}
	record = record[:n]
	le := binary.LittleEndian
	signed := 0
	if n >= 4 && string(record[:4]) == "PK\x07\x08" {
		signed = 4
	}
	for _, from := range []int{signed, 0} {
		r := record[from:]
		if len(r) < 12 || le.Uint32(r) != f.CRC32 {
			continue
		}
		end := at + int64(from)
		if uint64(le.Uint32(r[4:])) == f.CompressedSize64 && uint64(le.Uint32(r[8:])) == f.UncompressedSize64 {
			return end + 12, nil
		}
		if len(r) >= 20 && le.Uint64(r[4:]) == f.CompressedSize64 && le.Uint64(r[12:]) == f.UncompressedSize64 {
			return end + 20, nil
		}
	}
	return 0, errLocal
}

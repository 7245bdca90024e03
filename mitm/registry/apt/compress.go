package apt

import (
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

var (
	errCompression = errors.New("unknown compression")
	errTooLarge    = errors.New("too large when decompressed")
)

// maxWindow bounds the memory for decompressing one file, in bytes.
const maxWindow = 64 << 20

// decompress decompresses data according to the end of its name. Reading more than limit bytes is
// an error.
func decompress(end string, data io.ReaderAt, size, limit int64) (io.ReadCloser, error) {
	raw := io.NewSectionReader(data, 0, size)
	switch end {
	case "":
		return &bounded{Reader: raw, left: limit}, nil
	case ".gz":
		r, err := gzip.NewReader(raw)
		if err != nil {
			return nil, err
		}
		return &bounded{Reader: r, left: limit}, nil
	case ".bz2":
		return &bounded{Reader: bzip2.NewReader(raw), left: limit}, nil
	case ".xz":
		if err := checkXZ(data, size); err != nil {
			return nil, err
		}
		r, err := xz.ReaderConfig{SingleStream: true}.NewReader(raw)
		if err != nil {
			return nil, err
		}
		return &bounded{Reader: r, left: limit}, nil
	case ".zst":
		r, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return &bounded{Reader: r, left: limit, close: r.Close}, nil
	}
	return nil, errCompression
}

// bounded is a reader that fails after a number of bytes.
type bounded struct {
	io.Reader
	left  int64
	close func()
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// Close frees the decompressor.
func (b *bounded) Close() error {
	if b.close != nil {
		b.close()
	}
	return nil
}

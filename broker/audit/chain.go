package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// maxLine is the longest line a reader accepts. Append writes shorter ones.
const maxLine = 4 << 20

// tornError is a last line without its end.
type tornError struct {
	seq    uint64
	length int
}

func (e *tornError) Error() string {
	return fmt.Sprintf("line %d is incomplete: %d bytes without an end", e.seq, e.length)
}

// chain reads lines and checks each against the one before.
type chain struct {
	r      *bufio.Reader
	tip    tip
	long   []byte
	body   []byte // of the last line, after its hash; valid until the next line is read
	sealed bool   // the last line is a closing one
}

func newChain(r io.Reader, from tip) *chain {
	return &chain{r: bufio.NewReaderSize(r, 1<<20), tip: from}
}

// next follows the chain by one line. It ends with io.EOF; any other error names
// the line.
func (c *chain) next() error {
	line, err := c.read()
	if err != nil {
		return err
	}
	seq := c.tip.Seq + 1
	body, err := c.linked(line, seq)
	if err != nil {
		return err
	}
	sealed := isSeal(body)
	if sealed && !sealHolds(line) {
		return fmt.Errorf("line %d: the closing record was edited", seq)
	}
	sum := sha256.Sum256(line)
	start := c.tip.Size
	c.tip = tip{Seq: seq, Hash: hex.EncodeToString(sum[:]), Start: start, Size: start + int64(len(line)) + 1}
	c.body, c.sealed = body, sealed
	return nil
}

// linked checks the two members at the start of every line and returns the rest.
func (c *chain) linked(line []byte, seq uint64) ([]byte, error) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"seq":`))
	if !ok {
		return nil, fmt.Errorf("line %d is not an audit record", seq)
	}
	number, rest, _ := bytes.Cut(rest, []byte(`,"prev":"`))
	if len(rest) < len(genesis)+2 || !bytes.HasPrefix(rest[len(genesis):], []byte(`",`)) {
		return nil, fmt.Errorf("line %d is not an audit record", seq)
	}
	if string(number) != strconv.FormatUint(seq, 10) {
		return nil, fmt.Errorf("line %d has the number %.20q: lines are missing, moved or edited", seq, number)
	}
	if string(rest[:len(genesis)]) != c.tip.Hash {
		return nil, fmt.Errorf("line %d does not follow from line %d: one of them was edited", seq, seq-1)
	}
	return rest[len(genesis)+2:], nil
}

// read returns one line without its newline.
func (c *chain) read() ([]byte, error) {
	line, err := c.r.ReadSlice('\n')
	if err == nil {
		return line[:len(line)-1], nil
	}
	c.long = append(c.long[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(c.long) > maxLine {
			return nil, fmt.Errorf("line %d is longer than any record", c.tip.Seq+1)
		}
		line, err = c.r.ReadSlice('\n')
		c.long = append(c.long, line...)
	}
	switch {
	case err == nil:
		return c.long[:len(c.long)-1], nil
	case errors.Is(err, io.EOF) && len(c.long) == 0:
		return nil, io.EOF
	case errors.Is(err, io.EOF):
		return nil, &tornError{seq: c.tip.Seq + 1, length: len(c.long)}
	}
	return nil, err
}

// isSeal recognizes a closing line by the text behind its time. It looks only there,
// because the arguments of a call could contain the same text further on.
func isSeal(body []byte) bool {
	rest, ok := bytes.CutPrefix(body, []byte(`"time":"`))
	i := bytes.IndexByte(rest, '"')
	return ok && i >= 0 && bytes.HasPrefix(rest[i:], []byte(`",`+sealMark))
}

const sealMark = `"plane":"audit","decision":"closed","records":`

// sealBody returns the closing line after the tip. The line contains its own checksum,
// because no line follows that would check it.
func sealBody(t tip, now time.Time) []byte {
	body := fmt.Appendf(nil, `"time":%q,%s%d`, now.UTC().Format(time.RFC3339Nano), sealMark, t.Seq)
	return fmt.Appendf(body, `,"check":%q}`, sealCheck(fmt.Appendf(nil, `{"seq":%d,"prev":"%s",%s`, t.Seq+1, t.Hash, body)))
}

func sealCheck(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func sealHolds(line []byte) bool {
	i := bytes.LastIndex(line, []byte(`,"check":"`))
	return i >= 0 && string(line[i:]) == fmt.Sprintf(`,"check":%q}`, sealCheck(line[:i]))
}

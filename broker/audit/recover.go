package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// headName is the head file of a log.
func headName(path string) string { return path + ".head" }

// headSize is the fixed length of the head file; one sector, so that it is
// never seen half-written.
const headSize = 256

// open finds the end of the chain, moves a torn tail aside and returns what a
// recovery did, nil when there was nothing to do.
func (w *writer) open() (map[string]any, error) {
	broken := func(op string, err error, next string) error {
		return problem(w.path, op, err, next)
	}
	file, err := w.fs.Open(w.path, Records)
	if err != nil {
		next := "choose a file that can be written"
		if errors.Is(err, ErrInUse) {
			next = "end the other program or give this one a file of its own"
		}
		return nil, broken("open", err, next)
	}
	head, err := w.fs.Open(headName(w.path), Head)
	if err != nil {
		return nil, errors.Join(broken("open head file", err, ""), file.Close())
	}
	w.file, w.head = file, head
	done, err := w.findTip()
	if err == nil {
		w.ours, err = file.Stat()
	}
	if err != nil {
		err = broken("open", err, "the file was changed or cut: keep it as evidence and move it, with its .head file, out of the way")
		return nil, errors.Join(err, file.Close(), head.Close())
	}
	if err := w.writeHead(w.tip); err != nil {
		return nil, errors.Join(broken("write head file", err, "make room on the disk"), file.Close(), head.Close())
	}
	w.quota.size.Store(w.tip.Size)
	if d, err := os.Open(filepath.Dir(w.path)); err == nil {
		_ = d.Sync() // makes a new file's name durable where the system can
		_ = d.Close()
	}
	return done, nil
}

// findTip sets the tip. It starts at the head and follows the chain from
// there, because a power cut can leave the head behind the log; without a head
// it reads the whole log.
func (w *writer) findTip() (map[string]any, error) {
	info, err := w.file.Stat()
	if err != nil {
		return nil, err
	}
	start, known, err := readHead(w.head)
	if err != nil {
		return nil, err
	}
	w.tip = tip{Hash: genesis}
	if known {
		if err := start.matches(w.file, info.Size()); err != nil {
			return nil, err
		}
		w.tip = start
	}
	c := newChain(io.NewSectionReader(w.file, w.tip.Size, info.Size()-w.tip.Size), w.tip)
	for {
		err := c.next()
		if err == nil {
			continue
		}
		w.tip = c.tip
		if errors.Is(err, io.EOF) {
			break
		}
		if length, torn := w.tornTail(err, info.Size()); torn {
			return w.quarantine(length)
		}
		return nil, err
	}
	if !known && w.tip.Seq > 0 {
		return map[string]any{"headFile": "was missing"}, nil
	}
	return nil, nil
}

// maxTorn is how long a torn tail can be; one write is shorter.
const maxTorn = 64 << 20

// tornTail reports whether the bytes behind the tip are what a crash leaves of one write,
// and how many there are: a line without an end, or lines with blocks that never reached
// the disk and read as zeros. Accepted lines contain no zeros. If each write is synced, no
// more lines than those of one write can be incomplete. More lines behind the zeros mean
// that the disk has lost data or that somebody removed it.
func (w *writer) tornTail(problem error, size int64) (length int64, torn bool) {
	length = size - w.tip.Size
	var unended *tornError
	if errors.As(problem, &unended) {
		return length, true
	}
	if length > maxTorn {
		return 0, false
	}
	tail := make([]byte, length)
	if _, err := w.file.ReadAt(tail, w.tip.Size); err != nil && !errors.Is(err, io.EOF) {
		return 0, false
	}
	first, _, _ := bytes.Cut(tail, []byte{'\n'})
	if !bytes.Contains(first, []byte{0}) {
		return 0, false
	}
	return length, !w.sync || bytes.Count(tail, []byte{'\n'}) <= writeLimit
}

// quarantine moves what a crash left of the last write into a file of its own.
func (w *writer) quarantine(length int64) (map[string]any, error) {
	data := make([]byte, length)
	if _, err := w.file.ReadAt(data, w.tip.Size); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	name := fmt.Sprintf("%s.torn-%d-%d", w.path, w.tip.Seq+1, time.Now().UnixNano())
	if err := w.fs.WriteNew(name, data); err != nil {
		return nil, err
	}
	if err := w.file.Truncate(w.tip.Size); err != nil {
		return nil, err
	}
	return map[string]any{"tornBytes": length, "movedTo": filepath.Base(name)}, w.file.Sync()
}

// matches checks that the log still has the line that the head names.
func (t tip) matches(r io.ReaderAt, size int64) error {
	if t.Size > size {
		return fmt.Errorf("%d bytes are missing from the end of the log", t.Size-size)
	}
	if t.Seq == 0 {
		return nil
	}
	line := make([]byte, t.Size-t.Start)
	if _, err := r.ReadAt(line, t.Start); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	sum := sha256.Sum256(line[:len(line)-1])
	if hex.EncodeToString(sum[:]) != t.Hash || line[len(line)-1] != '\n' {
		return fmt.Errorf("line %d is not the one that its head file names", t.Seq)
	}
	return nil
}

// readHead reads a head file. It treats an empty file, or one of zeros, as missing, because
// a power cut leaves such files of heads that never reached the disk.
func readHead(r io.ReaderAt) (tip, bool, error) {
	b := make([]byte, headSize)
	n, err := r.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return tip{}, false, err
	}
	if len(bytes.Trim(b[:n], "\x00")) == 0 {
		return tip{}, false, nil
	}
	var t tip
	if err := json.Unmarshal(b[:n], &t); err != nil || t.Start < 0 || t.Start > t.Size ||
		len(t.Hash) != len(genesis) || (t.Seq > 0) != (t.Size > t.Start) {
		return tip{}, false, errors.New("the head file of the log cannot be understood")
	}
	return t, true, nil
}

// writeHead records the tip. The log itself is durable by then; the head only
// has to survive the process, so it is not synced each time.
func (w *writer) writeHead(t tip) error {
	b := append(w.headLine[:0], `{"seq":`...)
	b = append(strconv.AppendUint(b, t.Seq, 10), `,"hash":"`...)
	b = append(append(b, t.Hash...), `","start":`...)
	b = append(strconv.AppendInt(b, t.Start, 10), `,"size":`...)
	b = append(strconv.AppendInt(b, t.Size, 10), '}')
	for len(b) < headSize-1 {
		b = append(b, ' ')
	}
	w.headLine = append(b, '\n')
	_, err := w.head.WriteAt(w.headLine, 0)
	return err
}

// close appends the waiting records and the closing line, and releases the files.
func (w *writer) close(now time.Time) error {
	w.buffer = w.buffer[:0]
	next := w.tip
	late := w.later.end()
	late.each(func(body []byte) { next = w.line(next, body) })
	next = w.line(next, sealBody(next, now))
	err := w.write(next)
	if err == nil && w.sync {
		err = w.head.Sync()
	}
	return errors.Join(err, w.file.Close(), w.head.Close())
}

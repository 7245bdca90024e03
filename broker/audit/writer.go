package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strconv"
)

// batchLimit is how many callers share one sync at most, and writeLimit how many lines one
// write has at most.
const (
	batchLimit = 512
	writeLimit = batchLimit + laterLimit + 1
)

// crowdLasts is for how many writes after a shared one all records go to the writing goroutine.
const crowdLasts = 32

// bufferKept is the size up to which the memory of a write is used again.
const bufferKept = 1 << 20

// run is the writing goroutine: it gathers the records that wait, commits them,
// and answers their callers.
func (l *Log) run() {
	defer close(l.stopped)
	batch := make([]*entry, 0, batchLimit)
	for {
		batch = batch[:0]
		select {
		case e := <-l.queue:
			batch = append(batch, e)
		case <-l.later.due:
		case <-l.closing:
			if batch = l.gather(batch); len(batch) == 0 {
				l.writing.Lock()
				l.w.closed = l.w.close(l.options.Now())
				l.writing.Unlock()
				return
			}
		}
		// Yielding lets other callers add their records, such as those that were answered
		// together a moment ago, so that they share this sync.
		for more := true; more; {
			before := len(batch)
			runtime.Gosched()
			batch = l.gather(batch)
			more = len(batch) > before
		}
		l.writing.Lock()
		l.w.commit(batch)
		l.writing.Unlock()
	}
}

// gather takes what is queued without waiting.
func (l *Log) gather(batch []*entry) []*entry {
	for len(batch) < batchLimit {
		select {
		case e := <-l.queue:
			batch = append(batch, e)
		default:
			return batch
		}
	}
	return batch
}

// writer owns the file.
type writer struct {
	path  string
	later *later
	quota *quota
	fs    FS
	sync  bool
	state func(error)

	file     File
	ours     fs.FileInfo // the file that was opened
	head     File
	tip      tip
	dirty    bool // bytes after tip.Size are ours to remove
	failed   bool
	crowd    int // how many more records go to the writing goroutine, because several came together
	buffer   []byte
	headLine []byte
	closed   error // what close returned; read after the goroutine has ended
}

// tip is the end of the chain. It is also the content of the head file.
type tip struct {
	Seq   uint64 `json:"seq"`   // of the last line; 0 before the first
	Hash  string `json:"hash"`  // of the last line, in hex
	Start int64  `json:"start"` // of the last line
	Size  int64  `json:"size"`  // of the log, the last line included
}

// genesis is the hash that the first line names.
const genesis = "0000000000000000000000000000000000000000000000000000000000000000"

// commit makes a batch durable as a whole or not at all, together with the
// posted records.
func (w *writer) commit(batch []*entry) {
	next := w.tip
	w.buffer = w.buffer[:0]
	late := w.later.take()
	late.each(func(body []byte) { next = w.line(next, body) })
	live := batch[:0]
	for _, e := range batch {
		if e.taken.CompareAndSwap(false, true) {
			live = append(live, e)
			next = w.line(next, e.body)
		}
	}
	if w.crowd = max(0, w.crowd-1); len(live) > 1 {
		w.crowd = crowdLasts
	}
	if len(live)+len(late.ends) == 0 {
		w.later.settle(late, nil)
		return
	}
	err := w.write(next)
	w.report(err)
	w.later.settle(late, err)
	for _, e := range live {
		e.done <- err // has room for its one answer
	}
	if cap(w.buffer) > bufferKept {
		w.buffer = nil
	}
}

// line appends one line to the buffer and returns the tip after it.
func (w *writer) line(t tip, body []byte) tip {
	from := len(w.buffer)
	b := append(w.buffer, `{"seq":`...)
	b = strconv.AppendUint(b, t.Seq+1, 10)
	b = append(b, `,"prev":"`...)
	b = append(b, t.Hash...)
	b = append(b, `",`...)
	b = append(b, body...)
	sum := sha256.Sum256(b[from:])
	b = append(b, '\n')
	w.buffer = b
	var hash [2 * sha256.Size]byte
	hex.Encode(hash[:], sum[:])
	return tip{
		Seq: t.Seq + 1, Hash: string(hash[:]),
		Start: t.Size, Size: t.Size + int64(len(b)-from),
	}
}

// write writes the buffer to the disk and moves the tip. On any error it cuts the file back
// to its former size.
func (w *writer) write(next tip) error {
	if err := w.untouched(); err != nil {
		return w.failure("check", err)
	}
	n, err := w.file.Write(w.buffer)
	w.dirty = true
	if err == nil && n < len(w.buffer) {
		err = io.ErrShortWrite
	}
	if err == nil && w.sync {
		err = w.file.Sync()
	}
	if err == nil {
		err = w.inPlace(next.Size)
	}
	if err == nil {
		err = w.writeHead(next)
	}
	if err != nil {
		w.rollBack()
		return w.failure("write", err)
	}
	w.tip, w.dirty = next, false
	w.quota.size.Store(next.Size)
	return nil
}

// rollBack cuts off what a failed write left. If that fails, the next write tries again
// first.
func (w *writer) rollBack() {
	if w.file.Truncate(w.tip.Size) == nil {
		w.dirty = false
	}
}

var errChanged = errors.New("the file was changed by somebody else")

// untouched makes sure that the open file ends where we left it.
func (w *writer) untouched() error {
	if w.dirty {
		if err := w.file.Truncate(w.tip.Size); err != nil {
			return err
		}
		w.dirty = false
	}
	open, err := w.file.Stat()
	if err != nil {
		return err
	}
	if open.Size() != w.tip.Size {
		return errChanged
	}
	return nil
}

// inPlace checks that the path still leads to the written file: that nobody removed it,
// replaced it or wrote to it at the same time.
func (w *writer) inPlace(size int64) error {
	named, err := w.fs.Lstat(w.path)
	if err != nil {
		return err
	}
	if !os.SameFile(named, w.ours) {
		return errors.New("the file was replaced by another one")
	}
	if named.Size() != size {
		return errChanged
	}
	return nil
}

func (w *writer) failure(op string, err error) error {
	return problem(w.path, op, err, "make room or put the file back; calls are refused until it can be written")
}

// report reports once when the log stops working and once when it works again.
func (w *writer) report(err error) {
	if w.state == nil || (err != nil) == w.failed {
		return
	}
	w.failed = err != nil
	w.state(err)
}

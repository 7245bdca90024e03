package pane

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/term"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// A file of panes begins with savedMark, whose number is the version of the format. Two
// blocks follow for each pane, a savedPane in JSON and its screen, then an empty block and
// a checksum. A block is its length and its bytes.
const savedMark = "icpanes1"

// The bounds of a block, in bytes.
const (
	maxSavedPane   = 8 << 20
	maxSavedScreen = 256 << 20
)

// savedPane is a pane in the file, without its screen.
type savedPane struct {
	Session  broker.SessionID
	Life     int
	Cols     int // the size that was set last
	Rows     int
	Title    string
	First    string        // the first prompt
	Spans    []broker.Span // which parts of it were typed, and which pasted
	Input    []savedInput  // that waits in the queue
	Read     int64
	Output   int64 // when the agent last wrote
	Drawn    bool
	Opened   bool
	Inherits bool
	Ended    *string // why the terminal has ended; nil if it has not
}

// savedInput is one thing to write to an agent.
type savedInput struct {
	Pause time.Duration
	Data  []byte
	Tail  string
}

// Save closes all panes and writes them to w, for Load. It waits until all panes have stopped
// reading and writing. If ctx ends before that, Save fails, because it cannot know which bytes
// an agent has read. Places that views have reserved are not saved.
func (m *Mux) Save(ctx context.Context, w io.Writer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.panes {
		e.pane.Close()
	}
	sum := crc32.NewIEEE()
	out := io.MultiWriter(w, sum)
	_, err := io.WriteString(out, savedMark)
	for id, e := range m.panes {
		if err == nil {
			err = e.pane.save(ctx, out, id.life)
		}
	}
	if err == nil {
		err = writeBlock(out, nil)
	}
	if err == nil {
		_, err = w.Write(sum.Sum(nil))
	}
	if err != nil {
		return fault.Wrap("save the tabs", err, "")
	}
	return nil
}

// save writes a pane that was closed.
func (p *Pane) save(ctx context.Context, w io.Writer, life int) error {
	idle := make(chan struct{})
	go func() {
		p.running.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-ctx.Done():
		return fmt.Errorf("the agent of %s does not read its input: %w", p.id, context.Cause(ctx))
	}
	p.mu.Lock()
	s := savedPane{
		Session: p.id, Life: life, Cols: p.cols, Rows: p.rows, Title: p.title.Title,
		First: input.TextOf(p.first), Spans: input.SpansOf(p.first), Input: p.Queue.saved(),
		Read: p.received.Load(), Output: p.output.Load(),
		Drawn: p.drawn.Load(), Opened: p.opened, Inherits: p.inherits,
	}
	if p.ended != nil {
		s.Ended = new(string)
		if *p.ended != nil {
			*s.Ended = (*p.ended).Error()
		}
	}
	p.mu.Unlock()
	header, err := json.Marshal(s)
	if err != nil {
		return err
	}
	screen, err := p.Screen.Save()
	if err != nil {
		return err
	}
	return errors.Join(writeBlock(w, header), writeBlock(w, screen))
}

func writeBlock(w io.Writer, b []byte) error {
	if _, err := w.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(b)))); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

// Load adds the panes that Save wrote, or none if it fails. They are not connected yet.
func (m *Mux) Load(r io.Reader) error {
	panes, err := m.load(r)
	if err != nil {
		for _, e := range panes {
			e.pane.Close()
			e.pane.Screen.Close()
		}
		return fault.Wrap("load the tabs", err, "")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.Copy(m.panes, panes)
	return nil
}

// load reads all panes. If it fails, it returns the panes that it has made so far.
func (m *Mux) load(r io.Reader) (map[paneID]*entry, error) {
	panes := map[paneID]*entry{}
	sum := crc32.NewIEEE()
	in := io.TeeReader(r, sum)
	mark := make([]byte, len(savedMark))
	if _, err := io.ReadFull(in, mark); err != nil || string(mark) != savedMark {
		return nil, errors.New("the file has no saved tabs, or another version wrote it")
	}
	for {
		header, err := readBlock(in, maxSavedPane)
		if err != nil {
			return panes, err
		}
		if len(header) == 0 {
			break
		}
		screen, err := readBlock(in, maxSavedScreen)
		if err != nil {
			return panes, err
		}
		id, p, err := m.loadPane(header, screen)
		if err != nil {
			return panes, err
		}
		if panes[id] != nil {
			return panes, errDamaged
		}
		panes[id] = &entry{p, time.Now()}
	}
	want := sum.Sum(nil)
	got := make([]byte, len(want)+1)
	if n, err := io.ReadFull(r, got); n != len(want) || !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Equal(got[:n], want) {
		return panes, errDamaged
	}
	return panes, nil
}

var errDamaged = errors.New("the saved tabs are damaged")

// readBlock reads a block. It allocates memory for the bytes that it gets, and not for the length
// that the block claims.
func readBlock(r io.Reader, most uint32) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, errDamaged
	}
	n := binary.LittleEndian.Uint32(length[:])
	if n > most {
		return nil, errDamaged
	}
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, int64(n)); err != nil {
		return nil, errDamaged
	}
	return b.Bytes(), nil
}

// loadPane makes the pane of a header and a screen.
func (m *Mux) loadPane(header, screen []byte) (paneID, *Pane, error) {
	var s savedPane
	d := json.NewDecoder(bytes.NewReader(header))
	d.DisallowUnknownFields()
	first, ok := []input.Piece(nil), false
	if err := d.Decode(&s); err == nil && s.valid() {
		first, ok = input.PiecesOf(s.First, s.Spans)
	}
	if !ok {
		return paneID{}, nil, errDamaged
	}
	p := newPane(m.ctx, m.tasks, m.Priority, s.Session, s.Cols, s.Rows)
	var err error
	if p.Screen, err = term.LoadScreen(screen, p.onEvent); err != nil {
		p.cancel()
		return paneID{}, nil, err
	}
	p.Queue.load(s.Input)
	p.first, p.opened, p.inherits = first, s.Opened, s.Inherits
	p.title = term.Event{Kind: term.EventTitle, Title: s.Title}
	p.received.Store(s.Read)
	p.output.Store(s.Output)
	p.drawn.Store(s.Drawn)
	if s.Ended != nil {
		p.ended = new(error)
		if *s.Ended != "" {
			*p.ended = errors.New(*s.Ended)
		}
	}
	return paneID{s.Session, s.Life}, p, nil
}

// valid reports whether save could have written this pane.
func (s *savedPane) valid() bool {
	size := 0
	for _, k := range s.Input {
		size += len(k.Data)
		if len(k.Data) == 0 || k.Pause < 0 {
			return false
		}
	}
	return s.Session != "" && s.Cols > 0 && s.Rows > 0 && s.Read >= 0 &&
		size <= QueueLimit+QueueReserve+writeSize
}

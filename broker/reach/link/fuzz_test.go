package link

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"
)

// nothing is a connection to nobody.
type nothing struct{ io.Reader }

func (nothing) Write(p []byte) (int, error) { return len(p), nil }
func (nothing) Close() error                { return nil }

// Whatever frames are received, a link stays within its limits, never counts backwards, and gives
// its readers the bytes that were received.
func FuzzFrames(f *testing.F) {
	frame := func(h head, data ...byte) []byte { return append(h.append(nil), data...) }
	f.Add(frame(head{kind: frameData, length: 3}, 1, 2, 3))
	f.Add(append(frame(head{kind: frameAck, lane: bulk, offset: 50, length: 50}), frame(head{kind: frameAck, lane: bulk, offset: 100})...))
	f.Add(append(frame(head{kind: frameBeat, offset: 9}), frame(head{kind: frameBack, offset: 1})...))
	f.Add(frame(head{kind: frameEnd}))
	f.Add(append(frame(head{kind: frameData, length: 1}, 1), frame(head{kind: frameData, offset: 1, lane: bulk, length: 1}, 1)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := New(NewID())
		for _, a := range l.lanes {
			a.out.push(make([]byte, 100))
		}
		k, err := l.attach(nothing{}, &Hello{Version: Version, ID: l.id})
		if err != nil {
			t.Fatal(err)
		}
		k.compose(nil) // all that was written is sent
		r := bufio.NewReaderSize(bytes.NewReader(b), 4*maxData)
		var before [lanes]lane
		for err == nil {
			for i, a := range l.lanes {
				before[i].acked, before[i].received = a.acked, a.received
			}
			err = k.readFrame(r)
			k.compose(nil)
			for i, a := range l.lanes {
				if a.in.size > a.window || uint64(a.in.size) != a.received || a.acked < before[i].acked || a.received < before[i].received ||
					a.acked > a.next || a.next > a.top || a.end() != 100 {
					t.Fatalf("after % x, lane %d is %+v", b, i, a)
				}
			}
		}
		if l.closed != errors.Is(err, ErrEnded) {
			t.Errorf("the carrier ended with %v, and the link is closed: %v", err, l.closed)
		}
		if !l.closed {
			l.end(true)
		}
	})
}

// A hello that was read is written as the same bytes, and nothing after it is read.
func FuzzReadHello(f *testing.F) {
	f.Add(Hello{Version: Version, ID: NewID(), Received: [2]uint64{1, 1 << 60}}.encode())
	f.Add([]byte("icl\n\x02"))
	f.Add([]byte("exec failed"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		h, err := ReadHello(r)
		if err != nil {
			return
		}
		if again := h.encode(); !bytes.Equal(again, b[:len(b)-r.Len()]) {
			t.Errorf("% x was written as % x", b, again)
		}
	})
}

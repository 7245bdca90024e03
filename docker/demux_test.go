package docker

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
)

// frame makes a frame of the engine's.
func frame(kind byte, content string) string {
	head := [frameHead]byte{kind}
	binary.BigEndian.PutUint32(head[4:], uint32(len(content)))
	return string(head[:]) + content
}

// whole is a reader as it is.
func whole(r io.Reader) io.Reader { return r }

func demultiplex(r io.Reader) *demux {
	return &demux{in: bufio.NewReaderSize(r, demuxBuffer)}
}

func TestDemux(t *testing.T) {
	long := strings.Repeat("long ", 50_000)
	complaint := "panic: " + strings.Repeat("x", 2*complaintLimit) + "the rest"
	for _, tt := range []struct {
		name, stream, want string
		err                error  // nil: io.EOF, or any error with text
		text               string // in the error
	}{
		{"pieces", frame(1, "one ") + frame(1, "") + frame(2, "aside") + frame(1, long) + frame(1, "end"), "one " + long + "end", nil, ""},
		{"nothing", "", "", nil, "without any output"},
		{"nothing but empty frames", frame(1, "") + frame(2, ""), "", nil, "without any output"},
		{"a complaint", frame(2, "no \x1b[31mkeeper\r\n") + frame(2, "here\n"), "", nil, "ended: no [31mkeeper here"},
		{"a long complaint", frame(2, complaint), "", nil, complaint[:complaintLimit]},
		{"a complaint after output", frame(1, "out") + frame(2, "late"), "out", nil, ""},
		{"the engine's own words", frame(1, "out") + frame(3, "no such\nfile"), "out", ErrEngineRefuses, "no such file"},
		{"an unknown kind", frame(1, "out") + frame(4, "x"), "out", errFrames, "04000000"},
		{"the input, sent back", frame(0, "x"), "", errFrames, ""},
		{"no zeros", "\x01\x00\x01\x00\x00\x00\x00\x01x", "", errFrames, ""},
		{"a frame that is too long", "\x01\x00\x00\x00\x01\x00\x00\x01x", "", errFrames, ""},
		{"a frame of the greatest length, cut", "\x01\x00\x00\x00\x01\x00\x00\x00x", "x", io.ErrUnexpectedEOF, ""},
		{"cut in a head", frame(1, "out") + "\x01\x00\x00", "out", io.ErrUnexpectedEOF, ""},
		{"cut in a complaint", frame(2, "complaint")[:12], "", io.ErrUnexpectedEOF, ""},
		{"cut in the engine's words", frame(3, "complaint")[:12], "", io.ErrUnexpectedEOF, ""},
		{"a page", "HTTP/1.1 400 Bad Request\r\n", "", errFrames, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, way := range []func(io.Reader) io.Reader{whole, iotest.OneByteReader, iotest.DataErrReader} {
				got, err := io.ReadAll(demultiplex(way(strings.NewReader(tt.stream))))
				if string(got) != tt.want {
					t.Errorf("%d bytes: %.40q", len(got), got)
				}
				switch {
				case tt.err == nil && tt.text == "":
					if err != nil {
						t.Errorf("the end: %v", err)
					}
				case err == nil || tt.err != nil && !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.text) || strings.ContainsAny(err.Error(), "\n\x1b"):
					t.Errorf("the end: %.100q", fmt.Sprint(err))
				}
			}
		})
	}
}

// A line of text at the beginning is looked at, whole, before anybody reads it.
func TestDemuxAsksAboutTheFirstLine(t *testing.T) {
	for _, tt := range []struct {
		name, stream string
		asked        bool
	}{
		{"a line", frame(1, "refused\r\n") + frame(1, "more"), true},
		{"a line after a complaint", frame(2, "x") + frame(1, "refused\r\n"), true},
		{"a line of Unix", frame(1, "refused\n"), false},
		{"a line later", frame(1, "x") + frame(1, "refused\r\n"), false},
		{"a long text", frame(1, strings.Repeat("x", complaintLimit)+"\r\n"), false},
		{"one byte", frame(1, "\n"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked []string
			refusal := errors.New("refused")
			d := demultiplex(iotest.OneByteReader(strings.NewReader(tt.stream)))
			d.refused = func(text []byte) error {
				asked = append(asked, string(text))
				return refusal
			}
			got, err := io.ReadAll(d)
			if tt.asked != (len(asked) == 1 && asked[0] == "refused\r\n") || tt.asked != (len(got) == 0 && errors.Is(err, refusal)) || len(asked) > 1 {
				t.Errorf("asked %q, read %.20q, %v", asked, got, err)
			}
		})
	}
}

// A read that is called off at any byte loses nothing.
func TestDemuxGoesOnAfterADeadline(t *testing.T) {
	d := demultiplex(iotest.OneByteReader(&interrupted{source: strings.NewReader(
		frame(2, "aside") + frame(1, "first\r\n") + frame(1, "") + frame(1, "second") + frame(2, "aside"))}))
	d.refused = func([]byte) error { return nil }
	var got bytes.Buffer
	for timeouts := 0; ; {
		_, err := io.Copy(&got, d)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			if timeouts++; timeouts < 1000 {
				continue
			}
		}
		if err != nil || timeouts < 50 {
			t.Errorf("%v after %d deadlines", err, timeouts)
		}
		break
	}
	if got.String() != "first\r\nsecond" {
		t.Errorf("%q", got.String())
	}
}

// interrupted fails every other read.
type interrupted struct {
	source io.Reader
	odd    bool
}

func (i *interrupted) Read(p []byte) (int, error) {
	if i.odd = !i.odd; i.odd {
		return 0, os.ErrDeadlineExceeded
	}
	return i.source.Read(p)
}

// Whatever the engine sends, what is passed on is the content of frames of standard output,
// in order; memory is bounded; errors are one line.
func FuzzDemux(f *testing.F) {
	for _, s := range []string{
		frame(1, "one") + frame(2, "two") + frame(1, "three"), frame(1, "refused\r\n"), frame(2, "complaint\n\x1b"), frame(3, "no"),
		frame(0, "x"), frame(9, "x"), "\x01\x00\x00\x00\xff\xff\xff\xff", "\x01\x00\x00", "",
	} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, stream []byte, cut int) {
		cut = min(max(cut, 0), len(stream))
		d := demultiplex(io.MultiReader(bytes.NewReader(stream[:cut]), bytes.NewReader(stream[cut:])))
		asked := 0
		d.refused = func([]byte) error { asked++; return nil }
		got, err := io.ReadAll(d)
		want, whole := outputOf(stream)
		if !bytes.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if whole && len(want) > 0 != (err == nil) || !whole && err == nil {
			t.Errorf("the end is %v", err)
		}
		if asked > 1 || len(d.complaint) > complaintLimit || err != nil && strings.ContainsAny(err.Error(), "\n\r\x1b") {
			t.Errorf("asked %d times, %d bytes of complaint, %q", asked, len(d.complaint), err)
		}
	})
}

// outputOf takes a stream apart the simple way. It also returns whether it is whole frames.
func outputOf(stream []byte) (out []byte, whole bool) {
	for len(stream) > 0 {
		if len(stream) < frameHead || stream[0] < 1 || stream[0] > 3 || !bytes.Equal(stream[1:4], make([]byte, 3)) {
			return out, false
		}
		n, kind := int(binary.BigEndian.Uint32(stream[4:])), stream[0]
		if n > frameLimit {
			return out, false
		}
		stream = stream[frameHead:]
		some := stream[:min(n, len(stream))]
		cutShort := len(some) < n
		if kind == frameOut && !(cutShort && len(out) == 0 && n <= complaintLimit) { // the first piece is looked at whole
			out = append(out, some...)
		}
		if cutShort || kind == frameSystem && n > 0 {
			return out, false
		}
		stream = stream[n:]
	}
	return out, true
}

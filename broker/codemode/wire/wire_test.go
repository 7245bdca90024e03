package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func framed(body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// What was written is read, and nothing else.
func TestFramesSurvive(t *testing.T) {
	kinds := []Kind{Run, Result, Ready, Call, Sleep, Log, Idle, Done}
	rapid.Check(t, func(t *rapid.T) {
		f := Frame{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		for _, name := range members[f.Kind] {
			if n := f.number(name); n != nil {
				*n = rapid.Int64Range(0, 1<<53-1).Draw(t, name)
			} else if text := f.text(name); text != nil {
				*text = rapid.String().Draw(t, name)
			} else {
				f.OK = rapid.Bool().Draw(t, name)
			}
		}
		var stream bytes.Buffer
		if err := Write(&stream, f); err != nil {
			t.Fatal(err)
		}
		got, err := Read(&stream)
		if err != nil || cmp.Diff(f, got) != "" {
			t.Fatalf("%v: %s", err, cmp.Diff(f, got))
		}
		if _, err := Read(&stream); !errors.Is(err, io.EOF) {
			t.Fatalf("after it: %v", err)
		}
	})
}

func TestFramesThatAreRefused(t *testing.T) {
	for name, data := range map[string][]byte{
		"too long":                binary.BigEndian.AppendUint32(nil, MaxFrame+1),
		"cut off":                 framed(`{"kind":"idle"}`)[:10],
		"no object":               framed(`[]`),
		"nothing":                 framed(``),
		"no kind":                 framed(`{}`),
		"another kind":            framed(`{"kind":"exec"}`),
		"a member too many":       framed(`{"kind":"idle","text":""}`),
		"a member too few":        framed(`{"kind":"call","id":1,"tool":0,"text":""}`),
		"a member of another":     framed(`{"kind":"call","id":1,"tool":0,"line":1,"code":""}`),
		"a member twice":          framed(`{"kind":"log","text":"a","text":"b"}`),
		"a name in other letters": framed(`{"kind":"log","Text":"a"}`),
		"a text for a number":     framed(`{"kind":"sleep","id":"1","now":1}`),
		"a line before the first": framed(`{"kind":"call","id":1,"tool":0,"line":-1,"text":""}`),
		"a fraction":              framed(`{"kind":"sleep","id":1.5,"now":1}`),
		"less than nothing":       framed(`{"kind":"sleep","id":-1,"now":1}`),
		"nested":                  framed(`{"kind":"log","text":{}}`),
		"half a surrogate":        framed(`{"kind":"log","text":"\ud800"}`),
		"two in one":              framed(`{"kind":"idle"}{"kind":"idle"}`),
	} {
		t.Run(name, func(t *testing.T) {
			if f, err := Read(bytes.NewReader(data)); err == nil {
				t.Errorf("read as %+v", f)
			}
		})
	}
	var out bytes.Buffer
	if err := Write(&out, Frame{Kind: Log, Text: strings.Repeat("x", MaxFrame)}); !errors.Is(err, ErrTooLarge) || out.Len() > 0 {
		t.Errorf("a frame that is too long: %v, %d bytes written", err, out.Len())
	}
}

// FuzzRead reads what an isolate could send: it must not panic, and what is understood must
// mean the same when it is written again.
func FuzzRead(f *testing.F) {
	f.Add(framed(`{"kind":"call","id":1,"tool":0,"line":1,"text":"{}"}`))
	f.Add(framed(`{"kind":"done","ok":true,"text":"1","state":"{}"}`))
	f.Add(append(framed(`{"kind":"ready"}`), 0, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		for {
			frame, err := Read(r)
			if err != nil {
				return
			}
			var again bytes.Buffer
			if err := Write(&again, frame); errors.Is(err, ErrTooLarge) {
				continue // it was written in fewer bytes
			}
			if got, err := Read(&again); err != nil || got != frame {
				t.Fatalf("%+v became %+v: %v", frame, got, err)
			}
		}
	})
}

package link

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"
)

func TestMessagesComeBack(t *testing.T) {
	for _, m := range []Message{
		{Keys, []byte("ls\r")},
		{Output, make([]byte, MaxData)},
		{Output, []byte{}},
		{Size, SizeData(80, 24)},
		{Seen, []byte(`{}`)},
		{Go, GoData(200, 50, 1<<40)},
		{Exit, ExitData(-1)},
		{Past, PastData(1<<40, 8<<20)},
	} {
		var b bytes.Buffer
		if err := WriteMessage(&b, m); err != nil {
			t.Fatal(err)
		}
		got, err := ReadMessage(io.MultiReader(&b, bytes.NewReader([]byte("more"))))
		if err != nil || got.Kind != m.Kind || !bytes.Equal(got.Data, m.Data) {
			t.Errorf("kind %d with %d bytes came back as kind %d with %d, %v", m.Kind, len(m.Data), got.Kind, len(got.Data), err)
		}
	}
}

func TestMessagesThatAreNone(t *testing.T) {
	for _, m := range []Message{
		{0, nil},
		{Past + 1, nil},
		{Keys, make([]byte, MaxData+1)},
		{Size, make([]byte, 5)},
		{Go, make([]byte, 4)},
		{Exit, nil},
		{Past, make([]byte, 8)},
	} {
		if err := WriteMessage(io.Discard, m); err == nil {
			t.Errorf("kind %d with %d bytes was written", m.Kind, len(m.Data))
		}
	}
	for _, test := range []struct {
		name  string
		bytes string
		cause error
	}{
		{"nothing", "", io.EOF},
		{"half a head", "\x01\x00", io.ErrUnexpectedEOF},
		{"half the data", "\x01\x00\x00\x00\x02a", io.ErrUnexpectedEOF},
		{"no data", "\x01\x00\x00\x00\x02", io.ErrUnexpectedEOF},
		{"unknown kind", "\x08\x00\x00\x00\x00", errMessage},
		{"too long", "\x01\x00\x01\x00\x01", errMessage},
		{"much too long", "\x01\xff\xff\xff\xff", errMessage},
		{"size that is none", "\x03\x00\x00\x00\x03abc", errMessage},
	} {
		t.Run(test.name, func(t *testing.T) {
			if m, err := ReadMessage(bytes.NewReader([]byte(test.bytes))); !errors.Is(err, test.cause) {
				t.Errorf("it was read as kind %d, %v", m.Kind, err)
			}
		})
	}
}

func TestDataOfMessages(t *testing.T) {
	for _, test := range []struct{ cols, rows, wantCols, wantRows int }{
		{80, 24, 80, 24},
		{0, -5, 1, 1},
		{1 << 16, math.MaxInt, 1<<16 - 1, 1<<16 - 1},
	} {
		if cols, rows, err := ParseSize(SizeData(test.cols, test.rows)); err != nil || cols != test.wantCols || rows != test.wantRows {
			t.Errorf("%d×%d came back as %d×%d, %v", test.cols, test.rows, cols, rows, err)
		}
	}
	for _, code := range []int{0, 1, 255, -1} {
		if got, err := ParseExit(ExitData(code)); err != nil || got != code {
			t.Errorf("exit code %d came back as %d, %v", code, got, err)
		}
	}
	if lost, follow, err := ParsePast(PastData(3, 1<<40)); err != nil || lost != 3 || follow != 1<<40 {
		t.Errorf("past came back as %d, %d, %v", lost, follow, err)
	}
	if cols, rows, have, err := ParseGo(GoData(80, 24, 1<<40)); err != nil || cols != 80 || rows != 24 || have != 1<<40 {
		t.Errorf("go came back as %d×%d, %d, %v", cols, rows, have, err)
	}
	for name, parse := range map[string]func([]byte) error{
		"size": func(b []byte) error { _, _, err := ParseSize(b); return err },
		"go":   func(b []byte) error { _, _, _, err := ParseGo(b); return err },
		"exit": func(b []byte) error { _, err := ParseExit(b); return err },
		"past": func(b []byte) error { _, _, err := ParsePast(b); return err },
	} {
		for _, b := range [][]byte{nil, make([]byte, 3), make([]byte, 17)} {
			if parse(b) == nil {
				t.Errorf("%d bytes are a %s", len(b), name)
			}
		}
	}
	if _, _, err := ParseSize([]byte{0, 80, 0, 0}); err == nil {
		t.Error("a terminal without rows has a size")
	}
}

// A message that was read is written as the same bytes.
func FuzzReadMessage(f *testing.F) {
	for _, seed := range []string{"\x01\x00\x00\x00\x01k", "\x03\x00\x00\x00\x04\x00\x50\x00\x18", "\x07\x00\x00\x00\x10", "\xff\xff\xff\xff\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		m, err := ReadMessage(r)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := WriteMessage(&again, m); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.Bytes(), b[:len(b)-r.Len()]) {
			t.Errorf("% x was written as % x", b, again.Bytes())
		}
	})
}

package remote

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

const fuzzLimit = 64

// read returns all events of a stream.
func read(r io.Reader) (all []string, err error) {
	e := events{r: bufio.NewReader(r), grow: func(n int) error {
		if n > fuzzLimit {
			return errTooLong
		}
		return nil
	}}
	for {
		data, err := e.next()
		if err != nil {
			return all, err
		}
		all = append(all, string(data))
	}
}

func TestEvents(t *testing.T) {
	for stream, want := range map[string][]string{
		"data: a\n\n":                                 {"a"},
		"data:a\r\n\r\ndata:  b\r\rdata:c\n\n":        {"a", " b", "c"},
		": hello\nid: 7\nevent: message\ndata: a\n\n": {"a"},
		"event: ping\ndata: a\n\ndata: b\n\n":         {"b"},
		"data: a\ndata\ndata: b\n\n":                  {"a\n\nb"},
		"\ufeffdata: a\n\n":                           {"a"},
		"data: cut off\n":                             nil,
		"\n\n\ndata:\n\nretry: 1\n\n":                 nil,
	} {
		for _, r := range []io.Reader{strings.NewReader(stream), iotest.OneByteReader(strings.NewReader(stream))} {
			if got, err := read(r); !slices.Equal(got, want) || !errors.Is(err, io.EOF) {
				t.Errorf("%q: %q, %v", stream, got, err)
			}
		}
	}
	for _, much := range []string{"data: ", ": ", "data: a\ndata: "} {
		if got, err := read(strings.NewReader(much + strings.Repeat("x", 100))); len(got) > 0 || !errors.Is(err, errTooLong) {
			t.Errorf("%q and more: %q, %v", much, got, err)
		}
	}
}

// FuzzEvents compares the reader with a plain reading of the standard, which has the whole
// stream at once.
func FuzzEvents(f *testing.F) {
	for _, seed := range []string{"data: a\n\n", "data:a\r\ndata:b\r\r", "event: x\ndata: 1\n\n:c\n\n", "\ufeffdata\n\n\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		got, err := read(strings.NewReader(stream))
		if errors.Is(err, errTooLong) {
			return
		}
		text := strings.TrimPrefix(stream, "\ufeff")
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
		lines := strings.Split(text, "\n")
		var want, data []string
		kind := ""
		for _, line := range lines[:len(lines)-1] {
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case line == "":
				if all := strings.Join(data, "\n"); all != "" && (kind == "" || kind == "message") {
					want = append(want, all)
				}
				data, kind = nil, ""
			case name == "data":
				data = append(data, value)
			case name == "event":
				kind = value
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", stream, got, want)
		}
	})
}

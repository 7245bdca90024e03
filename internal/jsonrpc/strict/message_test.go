package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

func TestDecodeRefuses(t *testing.T) {
	for line, code := range map[string]int{
		`[{"jsonrpc":"2.0","method":"m"}]`:             jsonrpc.InvalidRequest,
		`{"jsonrpc":"2.0","method":"m","method":"n"}`:  jsonrpc.ParseError,
		`{"jsonrpc":"2.0","method":"m","Method":"n"}`:  jsonrpc.ParseError,
		`{"jsonrpc":"2.0","method":"m"`:                jsonrpc.ParseError,
		`{"jsonrpc":"2.0","method":"m","extra":1}`:     jsonrpc.InvalidRequest,
		`{"jsonrpc":"2.0","method":"m","id":null}`:     jsonrpc.InvalidRequest,
		`{"jsonrpc":"2.0","method":"m","id":1.5}`:      jsonrpc.InvalidRequest,
		`{"jsonrpc":"2.0","method":"m","id":{}}`:       jsonrpc.InvalidRequest,
		`{"jsonrpc":"2.0","method":1}`:                 jsonrpc.InvalidRequest,
		`{"jsonrpc":"1.0","method":"m"}`:               jsonrpc.InvalidRequest,
		`{"method":"m"}`:                               jsonrpc.InvalidRequest,
		`{"jsonrpc":"2.0","id":1}`:                     jsonrpc.InvalidRequest,
		`{"jsonrpc":"2.0","method":"m","result":{}}`:   jsonrpc.InvalidRequest,
		`{"jsonrpc":"2.0","method":"\ud800"}`:          jsonrpc.InvalidRequest,
		`{"jsonrpc":"2.0","method":"m","id":"\ud800"}`: jsonrpc.InvalidRequest,
	} {
		_, err := Decode([]byte(line))
		var e *jsonrpc.Error
		if !errors.As(err, &e) || e.Code != code {
			t.Errorf("%s: %v, want code %d", line, err, code)
		}
	}
}

// account is a budget that lines are charged to.
type account struct{ used, limit int }

func (a *account) Resize(bytes int) bool {
	if bytes > a.limit {
		return false
	}
	a.used = bytes
	return true
}

// FuzzLines holds what a stream of lines is taken for against what it says.
func FuzzLines(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}` + "\n",
		`{"jsonrpc":"2.0","id":"x","result":{}}` + "\r\n\n" + `{"jsonrpc":"2.0","id":-0,"error":{"code":1}}` + "\n",
		`{"id":1,"x":"` + strings.Repeat("long", 100) + `"}` + "\n[]\n{",
		`{"jsonrpc":"2.0","method":"\u0061","id":123456789012345678901}` + "\n",
	} {
		f.Add([]byte(s))
	}
	const limit, room = 200, 150
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := jsonrpc.NewReader(bytes.NewReader(stream), limit)
		r.FindIDs(FindID)
		for left := stream; ; {
			a := &account{limit: room}
			line, err := r.Next(a)
			var skipped *jsonrpc.SkippedError
			switch {
			case errors.As(err, &skipped):
				if a.used != 0 {
					t.Fatalf("%d bytes are taken for a line that was not kept", a.used)
				}
				continue
			case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
				t.Fatal(err)
			case err != nil:
				return
			}
			if len(line) == 0 || len(line) > limit || cap(line) > a.used {
				t.Fatalf("a line of %d bytes, for which %d are taken", len(line), a.used)
			}
			at := bytes.Index(left, line)
			if at < 0 {
				t.Fatalf("%q is not in the stream", line)
			}
			left = left[at+len(line):]
			decodes(t, line)
		}
	})
}

// decodes checks one line.
func decodes(t *testing.T, line []byte) {
	t.Helper()
	m, err := Decode(line)
	if err != nil {
		var e *jsonrpc.Error
		if !errors.As(err, &e) || !json.Valid(jsonrpc.AnswerError(m.ID, err)) {
			t.Fatalf("%q is refused with %s", line, jsonrpc.AnswerError(m.ID, err))
		}
		return
	}
	if m.ID != nil {
		if id, err := Identifier(m.ID); err != nil || !bytes.Equal(id, m.ID) {
			t.Fatalf("id %s of %q: %v", m.ID, line, err)
		}
	}
	open, err := Open(line)
	if err != nil || open.Method != m.Method || !bytes.Equal(open.Params, m.Params) || !bytes.Equal(open.Result, m.Result) {
		t.Fatalf("%q is %+v to one and %+v to the other", line, m, open)
	}
	if m.Method == "" || m.ID == nil || !jsonx.Valid(m.Params) {
		return
	}
	again, err := Decode(jsonrpc.Request(m.ID, m.Method, m.Params))
	if err != nil || again.Method != m.Method || !bytes.Equal(again.ID, m.ID) || !bytes.Equal(again.Params, m.Params) {
		t.Fatalf("%q becomes %s: %v", line, jsonrpc.Request(m.ID, m.Method, m.Params), err)
	}
}

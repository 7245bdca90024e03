package codemode

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode/wire"
)

// liar is an isolate that says what it likes, and goes on reading.
func liar(t testing.TB, says []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "liar")
	if err := os.WriteFile(path+".frames", says, 0o600); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\ncat '" + path + ".frames'\nexec cat 3>&1 >/dev/null\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func said(frames ...wire.Frame) []byte {
	b := bytes.NewBuffer(nil)
	for _, f := range append([]wire.Frame{{Kind: wire.Ready}}, frames...) {
		_ = wire.Write(b, f)
	}
	return b.Bytes()
}

// patience is how long a liar may say nothing.
var patience = Limits{CPU: time.Second, Idle: 200 * time.Millisecond, Alone: 2 * time.Second}

func TestLyingIsolates(t *testing.T) {
	call := wire.Frame{Kind: wire.Call, ID: 1, Tool: 5, Text: `{}`} // it hangs
	var nine []wire.Frame
	for id := range int64(9) {
		call.ID = id + 1
		nine = append(nine, call)
	}
	call.ID = 1
	done := wire.Frame{Kind: wire.Done, OK: true, Text: "1", State: "{}"}
	for name, c := range map[string]struct {
		says []byte
		want string
	}{
		"a tool that it was not given":   {said(wire.Frame{Kind: wire.Call, ID: 1, Tool: 99, Text: `{}`}, done), "was ended: it called a tool"},
		"a line that there is not":       {said(wire.Frame{Kind: wire.Call, ID: 1, Line: 2, Text: `{}`}, done), "was ended: it called from a line"},
		"an id again":                    {said(call, call, done), "was ended: it used an id again"},
		"an id out of order":             {said(wire.Frame{Kind: wire.Sleep, ID: 2}, wire.Frame{Kind: wire.Sleep, ID: 1}, done), "was ended: it used an id again"},
		"too many calls at a time":       {said(append(nine, done)...), "was ended: it used an id again, or made too many"},
		"long arguments":                 {said(wire.Frame{Kind: wire.Call, ID: 1, Text: strings.Repeat("x", 300<<10)}, done), "was ended: it called a tool"},
		"a frame of the host's":          {said(wire.Frame{Kind: wire.Result}, done), "was ended: it sent a frame of the kind result"},
		"ready twice":                    {said(wire.Frame{Kind: wire.Ready}, done), "was ended: it sent a frame of the kind ready"},
		"no frame":                       {append(said(), "GET / HTTP/1.1\r\n\r\n"...), "was ended: a frame is too large"},
		"half a frame":                   {said(done)[:30], "not counting the time of its calls"},
		"nothing":                        {said(), "not counting the time of its calls"},
		"a state that is no JSON":        {said(wire.Frame{Kind: wire.Done, OK: true, Text: "1", State: "{"}), "not a JSON object"},
		"a state that is another value":  {said(wire.Frame{Kind: wire.Done, OK: true, Text: "1", State: "[]"}), "not a JSON object"},
		"more after it has ended, first": {said(done, call, call), ""},
	} {
		t.Run(name, func(t *testing.T) {
			out, _ := runIn(t, NewRunner(liar(t, c.says), "", patience), `return 1`)
			if out.OK != (c.want == "") || !strings.Contains(out.Error, c.want) {
				t.Errorf("ok %v: %s", out.OK, out.Text())
			}
		})
	}
	t.Run("a value that is no JSON", func(t *testing.T) {
		out, _ := runIn(t, NewRunner(liar(t, said(wire.Frame{Kind: wire.Done, OK: true, Text: "\x1b]0;x\a{", State: "{}"})), "", patience), `return 1`)
		if out.OK {
			t.Errorf("%q is a value", out.Value)
		}
	})
	t.Run("never ready", func(t *testing.T) {
		r := NewRunner(liar(t, nil), "", Limits{Start: 50 * time.Millisecond})
		if _, err := r.Run(t.Context(), Program{Tools: testTools}); err == nil {
			t.Error("it was ready")
		}
	})
}

// FuzzLyingIsolate gives the host what an isolate could send: it neither panics nor hangs,
// and makes no call of a tool that the program was not given.
func FuzzLyingIsolate(f *testing.F) {
	f.Add(said(wire.Frame{Kind: wire.Call, ID: 1, Text: "{}"}, wire.Frame{Kind: wire.Idle}, wire.Frame{Kind: wire.Done, OK: true, Text: "1", State: "{}"})[19:])
	f.Add(said(wire.Frame{Kind: wire.Sleep, ID: 3, Now: 1}, wire.Frame{Kind: wire.Log, Text: "x"})[19:])
	f.Add([]byte{0, 0, 0, 2, '{', '}'})
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &stub{}
		out, err := NewRunner(liar(t, append(said(), data...)), "", patience).Run(t.Context(), Program{Code: `return 1`, Tools: testTools, Do: s.do})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Text()) > maxResult+1<<10 || len(s.calls) > MaxCalls || len(out.Calls) != len(s.calls) {
			t.Errorf("%d bytes, %d calls of %d", len(out.Text()), len(s.calls), len(out.Calls))
		}
	})
}

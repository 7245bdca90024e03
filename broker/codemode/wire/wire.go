// Package wire is what host and isolate say to each other: frames of four bytes of length,
// the most significant first, and one JSON object of that length.
//
// The isolate runs a stranger's program, so what comes from it is no more trusted than the program.
// Each kind of frame has a fixed set of members, all of them strings, whole numbers below 2^53, or
// booleans. A frame that lacks one, has another, or is longer than MaxFrame is an error. After an
// error the host kills the isolate.
//
//	to the isolate    run, then results
//	from the isolate  ready, then calls, sleeps, logs and idles; done is the last
package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// MaxFrame is the length of the longest frame, in bytes.
const MaxFrame = 1 << 20

// ErrTooLarge is the error of a frame that is too long.
var ErrTooLarge = errors.New("a frame is too large")

// Kind is the kind of a frame.
type Kind string

// The kinds of frames.
const (
	Run    Kind = "run"    // Code, Tools, State, Seed, Now, CPU
	Result Kind = "result" // ID, OK, Text, Decision, Rule, Now
	Ready  Kind = "ready"  // locked, and waiting for a program
	Call   Kind = "call"   // ID, Tool, Line, Text
	Sleep  Kind = "sleep"  // ID, Now
	Log    Kind = "log"    // Text
	Idle   Kind = "idle"   // the program waits for results
	Done   Kind = "done"   // OK, Text, State
)

// Frame is one message. Which members count depends on its kind.
type Frame struct {
	Kind  Kind
	ID    int64  // of a call or a sleep, greater than all before it
	Tool  int64  // index into the tools that the isolate was given
	Line  int64  // of the program, from 1, on which a call is made; 0: it is not known
	OK    bool   // a result: the call has a value; done: the program has one
	Text  string // arguments or a value as JSON, a line of the log, why something failed
	Code  string // the program
	Tools string // JSON: what the program is given, as package codemode composes it
	State string // a JSON object that one program leaves to the next
	Seed  int64  // of the program's random numbers
	Now   int64  // milliseconds since 1970; of a sleep, how many it lasts
	CPU   int64  // milliseconds of processor time that the program has
	// Why a call was refused: the audit's words for the decision, and the rule.
	Decision string
	Rule     string
}

// number returns the member of that name if it is a number, else nil.
func (f *Frame) number(name string) *int64 {
	switch name {
	case "id":
		return &f.ID
	case "tool":
		return &f.Tool
	case "line":
		return &f.Line
	case "seed":
		return &f.Seed
	case "now":
		return &f.Now
	case "cpu":
		return &f.CPU
	}
	return nil
}

// text returns the member of that name if it is a text, else nil.
func (f *Frame) text(name string) *string {
	switch name {
	case "text":
		return &f.Text
	case "code":
		return &f.Code
	case "tools":
		return &f.Tools
	case "state":
		return &f.State
	case "decision":
		return &f.Decision
	case "rule":
		return &f.Rule
	}
	return nil
}

// members are what a frame of each kind has besides its kind.
var members = map[Kind][]string{
	Run:    {"code", "tools", "state", "seed", "now", "cpu"},
	Result: {"id", "ok", "text", "decision", "rule", "now"},
	Ready:  {},
	Call:   {"id", "tool", "line", "text"},
	Sleep:  {"id", "now"},
	Log:    {"text"},
	Idle:   {},
	Done:   {"ok", "text", "state"},
}

// Write writes a frame in one write. It writes nothing of a frame that is too long.
func Write(w io.Writer, f Frame) error {
	b, err := Encode(f)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// Encode returns the bytes of a frame.
func Encode(f Frame) ([]byte, error) {
	b := append(make([]byte, 4, 256), `{"kind":`...)
	b = jsonx.AppendString(b, string(f.Kind))
	for _, name := range members[f.Kind] {
		b = append(append(append(b, `,"`...), name...), `":`...)
		if n := f.number(name); n != nil {
			b = strconv.AppendInt(b, *n, 10)
		} else if text := f.text(name); text != nil {
			b = jsonx.AppendString(b, *text)
		} else {
			b = strconv.AppendBool(b, f.OK)
		}
	}
	b = append(b, '}')
	if len(b)-4 > MaxFrame {
		return nil, ErrTooLarge
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b, nil
}

// Read reads the next frame. At the end of the stream between two frames, the error is
// io.EOF.
func Read(r io.Reader) (Frame, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > MaxFrame {
		return Frame{}, ErrTooLarge
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return Frame{}, fmt.Errorf("a frame is cut off: %w", err)
	}
	return decode(body)
}

func decode(body []byte) (Frame, error) {
	v, err := jsonx.Parse(body, jsonx.Limits{Bytes: MaxFrame, Depth: 1, Members: 16})
	if err != nil {
		return Frame{}, fmt.Errorf("a frame cannot be read: %w", err)
	}
	kind, _ := v.Member("kind")
	f := Frame{Kind: Kind(kind.Text)}
	wanted, known := members[f.Kind]
	if !known || kind.Kind != jsonx.String || len(v.Members) != len(wanted)+1 {
		return Frame{}, errors.New("a frame is of no known kind, or lacks members")
	}
	for _, m := range v.Members {
		if m.Name != "kind" && (!slices.Contains(wanted, m.Name) || !f.set(m)) {
			return Frame{}, fmt.Errorf("a frame of the kind %s has a member that it must not have", f.Kind)
		}
	}
	return f, nil
}

// set sets a member, and reports whether it is of the right type.
func (f *Frame) set(m jsonx.Member) bool {
	if n := f.number(m.Name); n != nil {
		v, err := strconv.ParseInt(m.Value.Text, 10, 64)
		*n = v
		return m.Value.Kind == jsonx.Number && err == nil && v >= 0
	}
	if text := f.text(m.Name); text != nil {
		*text = m.Value.Text
		return m.Value.Kind == jsonx.String
	}
	f.OK = m.Value.Truth
	return m.Value.Kind == jsonx.Bool
}

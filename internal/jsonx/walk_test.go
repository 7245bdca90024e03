package jsonx

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestWalk(t *testing.T) {
	doc := []byte(` {"a": {"x":[1,2]}, "A":"\u00e9" , "b":[ ]} `)
	var got []string
	if err := Walk(doc, func(name string, raw []byte, at int) error {
		if string(doc[at:at+len(raw)]) != string(raw) {
			t.Errorf("%s stands at %d", raw, at)
		}
		got = append(got, name+"="+string(raw))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got[0] != `a={"x":[1,2]}` || got[1] != `A="\u00e9"` || got[2] != `b=[ ]` {
		t.Errorf("%q", got)
	}
	for _, bad := range []string{``, `[]`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":1} x`, `{"a" 1}`, `{"a":1`, `{"__proto__":1}`, "{\"\xff\":1}"} {
		if Walk([]byte(bad), func(string, []byte, int) error { return nil }) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	stop := errors.New("stop")
	if err := Walk(doc, func(string, []byte, int) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
}

func TestWalkArray(t *testing.T) {
	var n int
	if err := WalkArray([]byte(`[1, {"a":[2]}, "x"]`), func([]byte, int) error { n++; return nil }); err != nil || n != 3 {
		t.Errorf("%d, %v", n, err)
	}
	for _, bad := range []string{``, `{}`, `[1`, `[1,]`, `[1] 2`} {
		if WalkArray([]byte(bad), func([]byte, int) error { return nil }) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// FuzzWalk holds the walk against the standard library: what it reports of a valid document
// are the members that are there.
func FuzzWalk(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":{"c":[1,"}"]}}`))
	f.Add([]byte(`[{"a":"\\\""},2]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		members := map[string]string{}
		err := Walk(data, func(name string, raw []byte, _ int) error { members[name] = string(raw); return nil })
		var want map[string]json.RawMessage
		if err != nil || !json.Valid(data) || json.Unmarshal(data, &want) != nil {
			return
		}
		if len(want) != len(members) {
			t.Fatalf("%q: %d members, want %d", data, len(members), len(want))
		}
		for name, raw := range want {
			if members[name] != string(raw) {
				t.Fatalf("%q: %s is %s, want %s", data, name, members[name], raw)
			}
		}
	})
}

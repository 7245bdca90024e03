package jsonx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "unexpected end"},
		{"duplicate", `{"a":1,"a":2}`, "duplicate name"},
		{"duplicate by escape", `{"a":1,"\u0061":2}`, "duplicate name"},
		{"duplicate deep inside", `[{"x":{"a":1,"b":2,"a":3}}]`, "duplicate name"},
		{"case twin", `{"path":1,"PATH":2}`, "differ only in case"},
		{"case twin beyond ASCII", `{"straße":1,"STRASSE":2}`, "differ only in case"},
		{"Kelvin sign", `{"k":1,"\u212a":2}`, "differ only in case"},
		{"composed and decomposed", `{"é":1,"e\u0301":2}`, "differ only in case or Unicode form"},
		{"full width", `{"path":1,"ｐath":2}`, "differ only in case or Unicode form"},
		{"prototype", `{"__proto__":1}`, "prototype"},
		{"twin among many", `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"J":11}`, "differ only in case"},
		{"invalid UTF-8", "\"\xff\"", "invalid UTF-8"},
		{"encoded surrogate", "\"\xed\xa0\x80\"", "invalid UTF-8"},
		{"high surrogate", `"\ud800"`, "surrogate"},
		{"low surrogate", `"\udc00"`, "surrogate"},
		{"high and no low", `"\ud800\u0041"`, "surrogate"},
		{"two highs", `"\ud800\ud800"`, "surrogate"},
		{"surrogate in a name", `{"\ud800":1}`, "surrogate"},
		{"control character", "\"a\nb\"", "control character"},
		{"NUL", "\"a\x00b\"", "control character"},
		{"unknown escape", `"\x41"`, "unknown escape"},
		{"short escape", `"\u12"`, "unknown escape"},
		{"open string", `"abc`, "without an end"},
		{"escape at the end", `"abc\`, "without an end"},
		{"open object", `{"a":1`, "expected"},
		{"open array", `[1`, "expected"},
		{"comma at the end", `[1,]`, "unexpected character"},
		{"comma at the end of an object", `{"a":1,}`, "expected a name"},
		{"no colon", `{"a" 1}`, "expected ':'"},
		{"name without quotes", `{a:1}`, "expected a name"},
		{"trailing data", `1 2`, "data after the value"},
		{"byte order mark", "\ufeff1", "unexpected character"},
		{"comment", `1 // x`, "data after the value"},
		{"NaN", `NaN`, "unexpected character"},
		{"infinity", `-Infinity`, "malformed number"},
		{"plus", `+1`, "unexpected character"},
		{"leading zero", `01`, "data after the value"},
		{"no digits", `-`, "malformed number"},
		{"no fraction", `1.`, "malformed number"},
		{"no exponent", `1e`, "malformed number"},
		{"hexadecimal", `0x10`, "data after the value"},
		{"overflow", `1e400`, "out of range"},
		{"underflow", `1e-400`, "out of range"},
		{"inexact integer", `9007199254740993`, "too large to be exact"},
		{"inexact by exponent", `1e16`, "too large to be exact"},
		{"inexact by its fraction", `0.99999999999999999999`, "too close to a whole one"},
		{"long number", "0." + strings.Repeat("1", 100), "too long"},
		{"white space of another kind", "\u00a01", "unexpected character"},
		{"true with more", `truex`, "data after the value"},
	} {
		_, err := Parse([]byte(tc.text), Limits{})
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestParseAccepts(t *testing.T) {
	for text, want := range map[string]string{
		` { "b" : [ 1 , 2.50 , -0 , 1E+2 ] , "a" : null } `:            `{"b":[1,2.50,0,100],"a":null}`,
		`[1.0,1e0,-0,-0.0,0e9,10e-1,-7.00,1.5,9007199254740991.0,2e3]`: `[1,1,0,0,0,1,-7,1.5,9007199254740991,2000]`,
		`"\u00e9\/\ud83d\ude00"`:                                       `"é/😀"`,
		`"\u2028\u007f\u0001\t"`:                                       `"\u2028\u007f\u0001\t"`,
		`9007199254740991`:                                             `9007199254740991`,
		`{}`:                                                           `{}`,
		`[]`:                                                           `[]`,
		`true`:                                                         `true`,
		`{"a":{"a":{"A ":1}}}`:                                         `{"a":{"a":{"A ":1}}}`,
	} {
		v, err := Parse([]byte(text), Limits{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := string(v.Encode()); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestLimits(t *testing.T) {
	nest := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, err := Parse(nest(32), Limits{}); err != nil {
		t.Errorf("32 levels: %v", err)
	}
	if _, err := Parse(nest(33), Limits{}); err == nil {
		t.Error("33 levels are accepted")
	}
	if _, err := Parse(nest(100_000), Limits{}); err == nil {
		t.Error("100,000 levels are accepted")
	}
	if _, err := Parse([]byte(`"aaaa"`), Limits{Bytes: 5}); err == nil {
		t.Error("6 bytes pass a limit of 5")
	}
	if _, err := Parse([]byte(`[1,2,3]`), Limits{Members: 3}); err == nil {
		t.Error("4 values pass a limit of 3")
	}
}

func TestTrusted(t *testing.T) {
	const text = `{"a":[9223372036854775807,1e400],"A":1}`
	v, err := Parse([]byte(text), Limits{Trusted: true})
	if err != nil || string(v.Encode()) != text {
		t.Errorf("%s %v", v.Encode(), err)
	}
	for _, text := range []string{strings.Repeat("1", 100), `{"a":1,"a":2}`, `{"__proto__":1}`} {
		if _, err := Parse([]byte(text), Limits{Trusted: true}); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

func TestWith(t *testing.T) {
	v, err := Parse([]byte(`{"a":1,"b":2}`), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	w := v.With("a", Text("x")).With("c", Value{Kind: Bool})
	if got := string(w.Encode()); got != `{"a":"x","b":2,"c":false}` {
		t.Error(got)
	}
	if got := string(v.Encode()); got != `{"a":1,"b":2}` {
		t.Errorf("the receiver changed: %s", got)
	}
}

func TestSplit(t *testing.T) {
	fields, err := Split([]byte(" {\"id\": 1 , \"arguments\" : {\"a\":1,\"a\":\"\xff]}\\\"\"} }\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(fields) != 2 || string(fields[0].Raw) != "1" || string(fields[1].Raw) != "{\"a\":1,\"a\":\"\xff]}\\\"\"}" {
		t.Errorf("%q", fields)
	}
	for _, text := range []string{
		``, `[]`, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1}x`, `{"a":1,"A":2}`, `{"a":"x}`, `{"a":[1}`, "{\"\xff\":1}", manyFields(maxFields + 1),
	} {
		if fields, err := Split([]byte(text)); err == nil {
			t.Errorf("%s: %q", text, fields)
		}
	}
}

func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"%d":1`, i)
	}
	return "{" + b.String()[1:] + "}"
}

// TestAgreesWithTheStandardLibrary: what is accepted means to encoding/json
// what it means here, before and after it is written out again.
func TestAgreesWithTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := generate(t, 4)
		data := v.Encode()
		again, err := Parse(data, Limits{})
		if err != nil {
			var syntax *SyntaxError
			if errors.As(err, &syntax) && strings.Contains(syntax.Reason, "name") {
				return // the generator made twins
			}
			t.Fatalf("%s: %v", data, err)
		}
		if !again.Equal(v) || !bytes.Equal(again.Encode(), data) {
			t.Fatalf("%s became %s", data, again.Encode())
		}
		sameAsStandard(t, data, again)
	})
}

func sameAsStandard(t interface{ Fatalf(string, ...any) }, data []byte, v Value) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var want any
	if err := d.Decode(&want); err != nil {
		t.Fatalf("encoding/json refuses %s: %v", data, err)
	}
	if got := byValue(v.Any()); !reflect.DeepEqual(got, byValue(want)) {
		t.Fatalf("%s: %#v, want %#v", data, got, want)
	}
}

// byValue puts the exact value of each number in the place of its spelling.
func byValue(v any) any {
	switch v := v.(type) {
	case json.Number:
		text := v.String()
		if !strings.ContainsAny(mantissa(text), "123456789") {
			text = "0" // whatever its exponent, which can be too large for big.Rat
		}
		r, ok := new(big.Rat).SetString(text)
		return fmt.Sprint(r, ok)
	case []any:
		for i := range v {
			v[i] = byValue(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = byValue(v[name])
		}
	}
	return v
}

func generate(t *rapid.T, depth int) Value {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 && kind >= int(Array) {
		kind = int(String)
	}
	v := Value{Kind: Kind(kind)}
	switch v.Kind {
	case Bool:
		v.Truth = rapid.Bool().Draw(t, "truth")
	case Number:
		v.Text = string(must(json.Marshal(rapid.Int32().Draw(t, "number"))))
	case String:
		v.Text = rapid.String().Draw(t, "string")
	case Array:
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			v.Items = append(v.Items, generate(t, depth-1))
		}
	case Object:
		for range rapid.IntRange(0, 10).Draw(t, "members") {
			v.Members = append(v.Members, Member{rapid.String().Draw(t, "name"), generate(t, depth-1)})
		}
	default: // null
	}
	return v
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.5e3,"x\u00e9\ud83d\ude00",null,true]}`, `{"a":1,"A":2}`, "\"\xff\"", `"\ud800"`, `[[[[]]]]`, `-0.0e-1`, `[1.0,1e0,-0]`, `0.99999999999999999999`, `{"__proto__":{}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = Split(data)
		v, err := Parse(data, Limits{})
		if err != nil {
			return
		}
		out := v.Encode()
		again, err := Parse(out, Limits{})
		if err != nil || !again.Equal(v) || !bytes.Equal(again.Encode(), out) {
			t.Fatalf("%q is not a fixed point: %v", out, err)
		}
		sameAsStandard(t, data, v)
	})
}

func BenchmarkParse(b *testing.B) {
	data := []byte(`{"path":"/workspace/src/main.go","edits":[{"oldText":"a","newText":"b"}],"dryRun":false,"head":10}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(data, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

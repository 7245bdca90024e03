package codemode

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTypes(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"string"}`:                                          `string`,
		`{"type":"integer"}`:                                         `number`,
		`{"enum":["a","b",1,null]}`:                                  `"a" | "b" | 1 | null`,
		`{"const":"x"}`:                                              `"x"`,
		`{"type":["string","null"]}`:                                 `string | null`,
		`{"anyOf":[{"type":"string"},{"type":"number"}]}`:            `string | number`,
		`{"anyOf":[{"type":"string"},{}]}`:                           `unknown`,
		`{"type":"array","items":{"enum":["a","b"]}}`:                `("a" | "b")[]`,
		`{"type":"array"}`:                                           `unknown[]`,
		`{"type":"object","additionalProperties":{"type":"number"}}`: `Record<string, number>`,
		`{"type":"object","properties":{"a b":{"type":"string"},"c":{"type":"object","properties":{"d":{"type":"boolean"}},"required":["d"]}},"required":["c"]}`: `{"a b"?: string; c: {d: boolean}}`,
		`{"$defs":{"x":{"type":"string"}},"type":"object","properties":{"a":{"$ref":"#/$defs/x"},"b":{"$ref":"http://elsewhere.example/x"}}}`:                    `{a?: string; b?: unknown}`,
		`{"properties":{"self":{"$ref":"#"}}}`: `{self?: unknown}`,
		`{"const":"*/ x"}`:                     `"*\/ x"`,
		`[]`:                                   `unknown`,
		`no JSON`:                              `unknown`,
	} {
		t.Run(schema, func(t *testing.T) {
			if got := typeOf([]byte(schema)); got != want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestNamesOfTools(t *testing.T) {
	names := newNames()
	for _, c := range [][3]string{
		{"filesystem", "read_file", "filesystem.read_file"},
		{"my-server", "do.it", "my_server.do_it"},
		{"my-server", "do-it", "my_server.do_it" + mark("my-server__do-it")},
		{"my_server", "x", "my_server" + mark("my_server") + ".x"},
		{"console", "delete", "console_.delete_"},
		{"JSON", "1st", "JSON_._1st"},
	} {
		t.Run(c[0]+"."+c[1], func(t *testing.T) {
			if group, name := names.of(Tool{Server: c[0], Name: c[1]}); group+"."+name != c[2] {
				t.Errorf("got %s.%s", group, name)
			}
		})
	}
}

// Whatever servers call their tools, and however many there are, a program can call the
// first, and what the model is told of them is bounded.
func TestAnyToolsCanBeCalled(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		one := rapid.Custom(func(rt *rapid.T) Tool {
			return Tool{
				Server: rapid.String().Draw(rt, "server"), Name: rapid.String().Draw(rt, "name"), Description: rapid.String().Draw(rt, "description"),
				Input: json.RawMessage(`{"type":"object","properties":{` + encode(rapid.String().Draw(rt, "property")) + `:{"type":"string"}}}`),
			}
		})
		// A server has no two tools of one name.
		tools := rapid.SliceOfNDistinct(one, 1, 8, func(t Tool) [2]string { return [2]string{t.Server, t.Name} }).Draw(rt, "tools")
		set := NewToolset(tools)
		var rows [][5]string
		if err := json.Unmarshal([]byte(set.list), &rows); err != nil || len(rows) != len(tools) {
			rt.Fatal(err, set.list)
		}
		names := map[string]bool{}
		for _, row := range rows {
			names[row[0]+"."+row[1]] = true
		}
		if len(names) != len(tools) {
			rt.Fatalf("%d names for %d tools: %s", len(names), len(tools), set.list)
		}
	})
	var many []Tool
	for n := range 2000 {
		many = append(many, Tool{Server: fmt.Sprint("server", n/100), Name: fmt.Sprint("tool", n), Description: strings.Repeat("word ", 50)})
	}
	set := NewToolset(many)
	if len(set.Description()) > maxStubs+len(about)+200 || set.Len() >= len(many) || len(set.list) > 2*maxAll {
		t.Errorf("%d bytes for the model, %d for the isolate, %d tools", len(set.Description()), len(set.list), set.Len())
	}
	s := &stub{}
	out, err := NewRunner(isolatePath, "", fast).Run(t.Context(), Program{Code: `return [await server3.tool350({a:1}), tools.find('tool350 word').length]`, Tools: set, Do: s.do})
	if err != nil || out.Text() != `[{"a":1},1]` {
		t.Errorf("%v, %.300s", err, out.Text())
	}
}

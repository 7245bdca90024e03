package codemode

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Tool is a tool that programs can call.
type Tool struct {
	Server, Name, Description string
	Input                     json.RawMessage // JSON Schema of its arguments
	Output                    json.RawMessage // of its structured answers; may be nil
}

// Toolset is what a program can call, prepared once for any number of programs. It is
// immutable.
type Toolset struct {
	tools []Tool
	list  string // what the isolate is sent: an array of [group, name, whole name, line, stub]
	text  string // what the agent's model is told of them
	print string // fingerprint of all tools
}

// Bounds of what is told of tools, in bytes.
const (
	maxStubs = 12 << 10 // of all stubs, up to which the model is given them at once
	maxStub  = 4 << 10  // of one; a longer one says less of its types
	maxAll   = 256 << 10
)

// NewToolset prepares tools. They get the names by which programs call them: a group of
// functions for each server, with the server's and the tool's own names where these are
// identifiers.
func NewToolset(tools []Tool) *Toolset {
	t := &Toolset{}
	names := newNames()
	var rows [][5]string
	var stubs, lines strings.Builder
	group, all, sum := "", 0, sha256.New()
	for _, tool := range tools {
		space, name := names.of(tool)
		whole := tool.Server + "." + tool.Name
		line := space + "." + name + " – " + firstSentence(tool.Description)
		stub := stubOf(name, tool)
		if all += len(whole) + len(line) + len(stub); all > maxAll {
			break
		}
		t.tools = append(t.tools, tool)
		fmt.Fprintf(sum, "%q %q %q %q %q\n", tool.Server, tool.Name, tool.Description, tool.Input, tool.Output)
		rows = append(rows, [5]string{space, name, whole, line, stub})
		if space != group {
			if group != "" {
				stubs.WriteString("}\n")
			}
			group = space
			stubs.WriteString("declare namespace " + space + " {\n")
		}
		stubs.WriteString(stub + "\n")
		lines.WriteString(line + "\n")
	}
	if group != "" {
		stubs.WriteString("}\n")
	}
	t.list, t.print = encode(rows), hex.EncodeToString(sum.Sum(nil))
	t.text = stubs.String()
	if len(t.text) > maxStubs {
		t.text = `One line a tool; tools.declare("server.tool") returns its declaration, tools.find("words") the lines with all these words.` + "\n" + lines.String()
		if len(t.text) > maxStubs {
			t.text = clipped(t.text, len(rows))
		}
	}
	if left := len(tools) - len(t.tools); left > 0 {
		t.text += fmt.Sprintf("%d more tools cannot be called from programs.\n", left)
	}
	return t
}

// clipped shortens a list of lines that is too long.
func clipped(text string, tools int) string {
	text = text[:strings.LastIndexByte(text[:maxStubs], '\n')+1]
	return text + fmt.Sprintf("and more, %d in all: tools.find(\"words\") finds them.\n", tools)
}

// Len is how many tools there are.
func (t *Toolset) Len() int { return len(t.tools) }

// about is what a model is told of programs.
const about = `Run a program: the body of an async TypeScript function. It can do nothing but call the tools below (no files, no network, no modules, no shell); each call is judged like one that is made by itself, and waits where a person is asked.
- await calls and return a value, which you get as JSON. Do much in one program (read and filter many files, with Promise.all where the order does not matter) and return little.
- A tool takes one object and answers with a value, or with text. What is refused throws a ToolError with decision, rule and message. A refusal is final: do not try it again.
- state is an object that later programs find as you leave it. console.log is returned, too. sleep(ms) waits.
`

// Description is what a model is told of programs and of the tools that these can call.
func (t *Toolset) Description() string { return about + "\n" + t.text }

// Schema is the JSON Schema of the arguments of a tool that runs programs.
const Schema = `{"type":"object","properties":{"code":{"type":"string"}},"required":["code"],"additionalProperties":false}`

// names gives tools the names by which programs call them.
type names struct {
	groups map[string]string          // by server
	taken  map[string]map[string]bool // names by group
}

func newNames() *names {
	return &names{groups: map[string]string{}, taken: map[string]map[string]bool{}}
}

func (n *names) of(t Tool) (group, name string) {
	group, known := n.groups[t.Server]
	if !known {
		group = identifier(t.Server, globals)
		if n.taken[group] != nil {
			group += mark(t.Server)
		}
		n.groups[t.Server] = group
		n.taken[group] = map[string]bool{}
	}
	name = identifier(t.Name, nil)
	if n.taken[group][name] {
		name += mark(t.Server + "__" + t.Name)
	}
	n.taken[group][name] = true
	return group, name
}

// mark returns a suffix for a name that would not be unique.
func mark(of string) string {
	sum := sha256.Sum256([]byte(of))
	return "_" + hex.EncodeToString(sum[:4])
}

var notInIdentifiers = regexp.MustCompile(`[^A-Za-z0-9_$]`)

// identifier makes an identifier of a name. It avoids the language's keywords and the others.
func identifier(name string, others []string) string {
	name = notInIdentifiers.ReplaceAllString(name, "_")
	switch {
	case name == "" || name[0] >= '0' && name[0] <= '9':
		return "_" + name
	case slices.Contains(keywords, name) || slices.Contains(others, name):
		return name + "_"
	}
	return name
}

var keywords = strings.Fields(`arguments await break case catch class const continue debugger default delete do else enum
	eval export extends false finally for function if implements import in instanceof interface let new null package
	private protected public return static super switch this throw true try typeof var void while with yield`)

// globals are names that programs find besides their tools.
var globals = strings.Fields(`Array ArrayBuffer BigInt Boolean Console DataView Date Error EvalError Function Infinity
	Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol
	SyntaxError ToolError TypeError URIError WeakMap WeakSet console constructor decodeURI decodeURIComponent encodeURI
	encodeURIComponent escape globalThis hasOwnProperty isFinite isNaN isPrototypeOf parseFloat parseInt
	propertyIsEnumerable sleep state toLocaleString toString tools undefined unescape valueOf __proto__`)

// firstSentence is the beginning of a description, fit for a comment.
func firstSentence(description string) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(description, "")), " ")
	if end := strings.Index(line, ". "); end >= 0 {
		line = line[:end+1]
	}
	line = strings.ReplaceAll(line, "*/", "* /")
	return cutAtWord(line, 160)
}

func cutAtWord(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	if end := strings.LastIndexByte(s[:limit], ' '); end > 0 {
		return s[:end] + " …"
	}
	return strings.ToValidUTF8(s[:limit], "") + "…"
}

// encode writes a value without changing characters for HTML.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings and arrays of strings never fail
	return strings.TrimSuffix(b.String(), "\n")
}

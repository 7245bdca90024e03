package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Definition is a tool as a server defines it.
type Definition struct {
	Name        string
	Description string
	InputSchema json.RawMessage
}

// Draft writes a first version of the annotations for a server's tools. A person then
// reviews every line. Draft guesses roles from names and types. An argument whose role it
// cannot guess gets roles that a rule must allow before a call passes, and is listed in
// doubts as "tool argument". What reviewed, a former draft, says about an argument stays as it is,
// because the person may have corrected it; nil: there is none.
func Draft(server string, tools []Definition, reviewed []byte, now time.Time) (document []byte, doubts []string, err error) {
	type toolDraft struct {
		Tool     string          `json:"toolName"`
		Server   string          `json:"serverName"`
		Comment  string          `json:"comment"`
		Says     string          `json:"description"`
		Args     map[string]any  `json:"args"`
		Schema   json.RawMessage `json:"inputSchema"`
		Behavior json.RawMessage `json:"behavior,omitempty"`
	}
	before, err := argumentsOf(server, reviewed)
	if err != nil {
		return nil, nil, err
	}
	drafts, h := []toolDraft{}, sha256.New()
	for _, t := range slices.SortedFunc(slices.Values(tools), func(a, b Definition) int { return strings.Compare(a.Name, b.Name) }) {
		var schema struct {
			Properties map[string]property `json:"properties"`
		}
		if err := json.Unmarshal(t.InputSchema, &schema); err != nil {
			return nil, nil, fmt.Errorf("tool %q: its schema cannot be read: %w", t.Name, err)
		}
		d := toolDraft{Tool: t.Name, Server: server, Comment: sanitize(text.FirstLine(t.Description, maxShown)), Says: t.Description, Args: map[string]any{}, Schema: t.InputSchema, Behavior: usual()[t.Name].text}
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			if said, is := before[t.Name][name]; is {
				d.Args[name] = said
				continue
			}
			guess, sure := guessRoles(words(t.Name), words(name), schema.Properties[name])
			d.Args[name] = guess
			if !sure {
				doubts = append(doubts, t.Name+" "+name)
			}
		}
		fmt.Fprintf(h, "%d:%s%d:%s", len(t.Name), t.Name, len(t.InputSchema), t.InputSchema)
		drafts = append(drafts, d)
	}
	document, err = json.MarshalIndent(map[string]any{
		"generatedAt": now.UTC().Format(time.RFC3339),
		"servers":     map[string]any{server: map[string]any{"inputHash": hex.EncodeToString(h.Sum(nil)), "tools": drafts}},
	}, "", "  ")
	if err != nil {
		return nil, nil, err
	}
	if _, err := ParseAnnotations("draft", document); err != nil {
		return nil, nil, err
	}
	return append(document, '\n'), doubts, nil
}

// argumentsOf returns what a document of annotations says about the arguments of a server's tools, as
// it is written, by tool and argument.
func argumentsOf(server string, document []byte) (map[string]map[string]json.RawMessage, error) {
	if document == nil {
		return nil, nil
	}
	var doc struct {
		Servers map[string]struct {
			Tools []struct {
				Name string                     `json:"toolName"`
				Args map[string]json.RawMessage `json:"args"`
			} `json:"tools"`
		} `json:"servers"`
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("read the former annotations: %w", err)
	}
	all := make(map[string]map[string]json.RawMessage)
	for _, t := range doc.Servers[server].Tools {
		all[t.Name] = t.Args
	}
	return all, nil
}

// property is the part of an argument's schema that Draft guesses from.
type property struct {
	Type  any   `json:"type"`
	Enum  []any `json:"enum"`
	Items *struct {
		Type any   `json:"type"`
		Enum []any `json:"enum"`
	} `json:"items"`
}

// harmless reports whether an argument can only be one of a few values, or a number.
func (p property) harmless() bool {
	few := func(kind any, enum []any) bool {
		return len(enum) > 0 || kind == "boolean" || kind == "number" || kind == "integer" || kind == "null"
	}
	return few(p.Type, p.Enum) || p.Type == "array" && p.Items != nil && few(p.Items.Type, p.Items.Enum)
}

// Words in the names of arguments and tools from which roles are guessed.
var (
	pathWords   = []string{"path", "paths", "file", "files", "filename", "filepath", "dir", "directory", "directories", "folder", "cwd", "root", "source", "src", "destination", "dest"}
	urlWords    = []string{"url", "urls", "uri", "uris", "link", "href", "endpoint", "website"}
	mailWords   = []string{"email", "emails", "recipient", "recipients", "to", "cc", "bcc"}
	queryWords  = []string{"query", "q", "search", "keywords"}
	targetWords = []string{"destination", "dest", "target", "to", "new"}
	readVerbs   = []string{"read", "get", "list", "search", "find", "stat", "info", "show", "tree", "view", "open", "head", "tail", "grep"}
	moveVerbs   = []string{"move", "rename", "mv"}
	dropVerbs   = []string{"delete", "remove", "rm", "unlink", "trash", "clean"}
	writeVerbs  = []string{"write", "create", "edit", "append", "update", "save", "put", "mkdir", "make", "add", "insert", "replace", "patch"}
)

// guessRoles guesses the roles of an argument, and returns whether the guess is sure.
func guessRoles(tool, arg []string, p property) (guess []Role, sure bool) {
	has := func(in, list []string) bool {
		return slices.ContainsFunc(in, func(w string) bool { return slices.Contains(list, w) })
	}
	switch {
	case p.harmless():
		return []Role{None}, true
	case has(arg, []string{"header", "headers"}) && p.Type == "object":
		return []Role{HTTPHeaders}, true
	case p.Type == "object":
		return []Role{FreeText}, false
	case has(arg, urlWords):
		return []Role{FetchURL}, true
	case has(arg, pathWords):
		switch {
		case has(tool, moveVerbs) && has(arg, targetWords):
			return []Role{WritePath}, true
		case has(tool, moveVerbs):
			return []Role{ReadPath, DeletePath}, true
		case has(tool, dropVerbs):
			return []Role{DeletePath}, true
		case has(tool, writeVerbs):
			return []Role{ReadPath, WritePath}, true
		case has(tool, readVerbs):
			return []Role{ReadPath}, true
		}
		return []Role{ReadPath, WritePath, DeletePath}, false
	case has(arg, mailWords):
		return []Role{EmailAddress}, true
	case has(arg, queryWords):
		return []Role{SearchQuery}, true
	}
	return []Role{FreeText}, false
}

// words splits a name in camel case, or with dashes or underscores, into its words in
// lower case.
func words(name string) []string {
	var all []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			all, word = append(all, strings.ToLower(string(word))), nil
		}
	}
	last := ' '
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			end()
		case unicode.IsUpper(c) && !unicode.IsUpper(last):
			end()
			fallthrough
		default:
			word = append(word, c)
		}
		last = c
	}
	end()
	return all
}

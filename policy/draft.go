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

// Draft writes annotations for the tools of a server, as a beginning for a person
// who then reviews every line. Roles are guessed from names and types. What cannot
// be guessed gets the role that the rules have to speak of before a call passes,
// and is listed in doubts, as "tool argument".
func Draft(server string, tools []Definition, now time.Time) (document []byte, doubts []string, err error) {
	type toolDraft struct {
		Tool     string            `json:"toolName"`
		Server   string            `json:"serverName"`
		Comment  string            `json:"comment"`
		Args     map[string][]Role `json:"args"`
		Schema   json.RawMessage   `json:"inputSchema"`
		Behavior json.RawMessage   `json:"behavior,omitempty"`
	}
	drafts, h := []toolDraft{}, sha256.New()
	for _, t := range slices.SortedFunc(slices.Values(tools), func(a, b Definition) int { return strings.Compare(a.Name, b.Name) }) {
		var schema struct {
			Properties map[string]property `json:"properties"`
		}
		if err := json.Unmarshal(t.InputSchema, &schema); err != nil {
			return nil, nil, fmt.Errorf("tool %q: its schema cannot be read: %w", t.Name, err)
		}
		d := toolDraft{Tool: t.Name, Server: server, Comment: sanitize(text.FirstLine(t.Description, maxShown)), Args: map[string][]Role{}, Schema: t.InputSchema, Behavior: usual()[t.Name].text}
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
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

// property is what of an argument's schema tells what it can be.
type property struct {
	Type  any   `json:"type"`
	Enum  []any `json:"enum"`
	Items *struct {
		Type any   `json:"type"`
		Enum []any `json:"enum"`
	} `json:"items"`
}

// harmless tells whether an argument can only choose among a few values.
func (p property) harmless() bool {
	few := func(kind any, enum []any) bool {
		return len(enum) > 0 || kind == "boolean" || kind == "number" || kind == "integer" || kind == "null"
	}
	return few(p.Type, p.Enum) || p.Type == "array" && p.Items != nil && few(p.Items.Type, p.Items.Enum)
}

// Words by which arguments and tools are told apart.
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

// guessRoles guesses what an argument means, and says whether it is sure.
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

// words takes a name in camel case, with dashes or underscores apart.
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

package scripted

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// toolNames are the tools that carry out an order, the best first, as they are
// called behind whatever an agent puts in front: mcp__ironcurtain__ and the like.
func (v verb) toolNames() []string {
	switch v {
	case verbRead:
		return []string{"filesystem__read_file", "filesystem__read_text_file"}
	case verbWrite:
		return []string{"filesystem__write_file"}
	case verbList:
		return []string{"filesystem__list_directory"}
	case verbPush:
		return []string{"git__git_push"}
	case verbRun:
		return []string{"Bash", "bash", "exec_command", "run_shell_command", "shell"}
	case verbBatch:
		return programTools
	case verbSay:
		return nil
	}
	return nil
}

// call turns an order into a call of one of the tools on offer.
func (c *conversation) call(o order) (*call, error) {
	t, err := c.tool(o.verb)
	if err != nil {
		if made := c.programCall(o); made != nil {
			return made, nil
		}
		return nil, err
	}
	input, err := t.arguments(o, c.directory())
	if err != nil {
		return nil, err
	}
	return &call{space: t.space, tool: t.name, input: input, code: t.code}, nil
}

// tool finds the tool that carries out a verb.
func (c *conversation) tool(v verb) (tool, error) {
	for _, want := range v.toolNames() {
		for _, t := range c.tools {
			if endsInName(t.path(), want) {
				return t, nil
			}
		}
	}
	return tool{}, fmt.Errorf("none of the %d tools I was offered ends in %s, so the server that has it is not connected",
		len(c.tools), strings.Join(v.toolNames(), " or "))
}

// endsInName reports whether name is want, or ends in want after something
// that is not part of a word: git__git_push is not digit__git_push.
func endsInName(name, want string) bool {
	before, ok := strings.CutSuffix(name, want)
	if !ok {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || !unicode.IsLetter(last) && !unicode.IsDigit(last)
}

// What servers call the parts of an order in their input schemas.
var (
	pathNames       = []string{"path", "file_path", "filePath", "filename", "file", "directory", "dir"}
	textNames       = []string{"content", "contents", "text", "data"}
	commandNames    = []string{"command", "cmd"}
	repositoryNames = []string{"path", "repo_path", "repository", "cwd", "directory"}
)

// arguments fills in a tool's input by the names of its schema. A required
// argument that the order says nothing about is an error: guessing would make a
// call that nobody asked for.
func (t tool) arguments(o order, directory string) (map[string]any, error) {
	input := map[string]any{}
	set := func(names []string, value string) {
		if name, ok := t.input.property(names); ok {
			input[name] = value
		}
	}
	switch o.verb {
	case verbRead, verbList:
		set(pathNames, o.path)
	case verbWrite:
		set(pathNames, o.path)
		set(textNames, o.text)
	case verbPush:
		set(repositoryNames, directory)
		if o.to != "" {
			set([]string{"remote"}, o.to)
		} else if slices.Contains(t.input.Required, "remote") {
			input["remote"] = "origin"
		}
	case verbRun:
		set(commandNames, o.text)
		set([]string{"description"}, "as ordered")
	case verbBatch:
		input["code"] = batchProgram(o.n, o.path, directory)
	case verbSay:
	}
	for _, name := range t.input.Required {
		if _, ok := input[name]; !ok {
			return nil, fmt.Errorf("the tool %s requires an argument %q that the order does not name", t.name, name)
		}
	}
	return input, nil
}

// property picks the first of names that the schema has, required ones before
// others. A schema that names no properties takes the first name.
func (s schema) property(names []string) (string, bool) {
	for _, name := range names {
		if slices.Contains(s.Required, name) {
			return name, true
		}
	}
	for _, name := range names {
		if _, ok := s.Properties[name]; ok {
			return name, true
		}
	}
	return names[0], len(s.Properties) == 0 && len(s.Required) == 0
}

package agent

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// Conversation is what an agent's home tells of its conversation. The agent
// can write there what it likes: nothing of it is to be trusted.
type Conversation struct {
	Begun      bool   // there is something to go on with
	LastPrompt string // what the person asked last; empty when it is not known
}

// lastPrompts find what was asked last in the homes of the agents that keep it,
// by the agents' names.
var lastPrompts = map[string]func(home *os.Root, id string) string{
	"claude-code": claudeLastPrompt,
}

// Conversation looks into an agent's home on the host for the conversation
// with that id. Agents that keep none have none that has begun.
func (a Adapter) Conversation(home, id string) Conversation {
	root, err := os.OpenRoot(home)
	if err != nil {
		return Conversation{}
	}
	defer root.Close()
	c := Conversation{Begun: a.Kept != nil && a.Kept(root.FS(), id)}
	if find := lastPrompts[a.Name]; find != nil {
		c.LastPrompt = shorten(find(root, id))
	}
	return c
}

// claudeLastPrompt reads .claude/projects/DIRECTORY/ID.jsonl, one message a
// line.
func claudeLastPrompt(home *os.Root, id string) string {
	dir, err := fs.ReadDir(home.FS(), ".claude/projects")
	if err != nil {
		return ""
	}
	for _, e := range dir {
		if tail, ok := readTail(home, path.Join(".claude/projects", e.Name(), id+".jsonl")); ok {
			return lastOf(tail, claudePrompt)
		}
	}
	return ""
}

// claudePrompt is what a line of Claude Code's says the person asked.
func claudePrompt(line []byte) string {
	var l struct {
		Type       string
		IsMeta     bool
		LastPrompt string `json:"lastPrompt"`
		Message    struct{ Content json.RawMessage }
	}
	if json.Unmarshal(line, &l) != nil || l.IsMeta {
		return ""
	}
	if l.Type == "last-prompt" {
		return l.LastPrompt
	}
	var text string
	if l.Type != "user" || json.Unmarshal(l.Message.Content, &text) != nil || strings.HasPrefix(text, "<") {
		return "" // results of tools are lists, what commands printed is in tags
	}
	return text
}

// tailSize is how much of the end of a conversation is looked at, in bytes.
const tailSize = 256 << 10

// readTail reads the end of a regular file below root. It never waits for a
// pipe and never follows a link out of root.
func readTail(root *os.Root, name string) ([]byte, bool) {
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	from := max(0, info.Size()-tailSize)
	data, err := io.ReadAll(io.NewSectionReader(f, from, tailSize))
	if err != nil {
		return nil, false
	}
	if from > 0 { // the first line is a piece of one
		if _, rest, ok := bytes.Cut(data, []byte("\n")); ok {
			data = rest
		}
	}
	return data, true
}

// lastOf returns the last line's text that is not empty.
func lastOf(lines []byte, text func(line []byte) string) string {
	for len(lines) > 0 {
		lines = bytes.TrimRight(lines, "\n")
		i := bytes.LastIndexByte(lines, '\n')
		if found := text(lines[i+1:]); found != "" {
			return found
		}
		lines = lines[:i+1]
	}
	return ""
}

// promptLimit bounds a last prompt, in bytes; it is shown on one line.
const promptLimit = 400

// shorten keeps the beginning of a text, as one line of valid UTF-8.
func shorten(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	for len(text) > promptLimit {
		text = text[:promptLimit]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
	}
	return text
}

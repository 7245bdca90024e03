package scripted

import (
	"encoding/json"
	"regexp"
	"strings"
)

// conversation is what the script needs to know of a request, whatever wire
// format it came in.
type conversation struct {
	system  string   // the system prompt, all of it
	prompts []string // the parts of the last thing the person said, in order
	results []result // of the calls made since then
	queued  []string // what the person said while that was carried out
	before  string   // answers to earlier prompts that come before the next one
	tools   []tool
	schema  *schema // the shape the answer must have, or nil
	limit   int     // tokens the answer may have
	picture string  // describes the last picture that the person showed; empty for none
	search  bool    // tools that are not on offer can be searched for
}

// tool is one tool that the request offers.
type tool struct {
	space string // the group that the name belongs to, where the provider has groups
	name  string
	input schema
	code  bool // it can only be called by a program
}

// path is the name with the group before it.
func (t tool) path() string {
	if t.space == "" {
		return t.name
	}
	return t.space + "__" + t.name
}

// result is what a tool call came back with.
type result struct {
	text   string
	failed bool
}

// schema is the part of a JSON Schema that the script fills in.
type schema struct {
	Type       schemaType         `json:"type"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Items      *schema            `json:"items"`
	Enum       []any              `json:"enum"`
}

// UnmarshalJSON reads an object; a schema may also be true or false, which says
// nothing about what to fill in.
func (s *schema) UnmarshalJSON(data []byte) error {
	type members schema
	if len(data) == 0 || data[0] != '{' {
		return nil
	}
	return json.Unmarshal(data, (*members)(s))
}

// schemaType is the type member of a schema: one name, or the first of several.
type schemaType string

// UnmarshalJSON takes a name, takes the first of a list of names and ignores
// everything else, as a schema without a type is a valid one.
func (t *schemaType) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = schemaType(strings.ToLower(one)) // one provider writes types in capitals
		return nil
	}
	var many []string
	if json.Unmarshal(data, &many) == nil && len(many) > 0 {
		*t = schemaType(strings.ToLower(many[0]))
	}
	return nil
}

// said records a text of the person: it opens a new turn, so the results of
// earlier calls no longer count.
func (c *conversation) said(parts []string) {
	var kept []string
	for _, p := range parts {
		c.noteDirectory(p)
		if p = personText(p); p != "" {
			kept = append(kept, p)
		}
	}
	if len(kept) > 0 {
		c.prompts, c.results, c.queued = kept, nil, nil
	}
}

// order finds the order in what the person said. Agents put context beside the prompt, so each part
// is tried alone, the last first. An agent may also join texts of the person that got no answer in
// one part: then the last paragraph with which a complete order begins counts.
func (c *conversation) order() (order, bool, error) {
	for i := len(c.prompts) - 1; i >= 0; i-- {
		part := c.prompts[i]
		for end := len(part); end > 0; {
			end = strings.LastIndex(part[:end], "\n\n")
			if o, ok, err := parseOrder(part[max(end, 0):]); ok && (err == nil || end < 0) {
				return o, true, err
			}
		}
	}
	return order{}, false, nil
}

// The tags between which agents add notes of their own to what the person says.
const noteTags = `(system-reminder|local-command-caveat|local-command-stdout|command-name|command-message|command-args` +
	`|ide_opened_file|ide_selection|environment_details|environment_context|user_instructions|INSTRUCTIONS` +
	`|session_context|hook_context|loaded_context|turn_aborted|skills_instructions|apps_instructions|plugins_instructions)`

var agentNotes = regexp.MustCompile(`(?s)<` + noteTags + `( [^>]*)?>.*?</` + noteTags + `>`)

// pasteTags are what Claude Code puts around a long text that the person has pasted.
var pasteTags = regexp.MustCompile(`</?pasted_content( [^>]*)?>`)

// interruption is how our own agent tells the model that a turn was ended, in front of what
// the person says next.
const interruption = "(The person interrupted you here.)"

// personText returns a text without the agent's own notes.
func personText(s string) string {
	s = pasteTags.ReplaceAllString(agentNotes.ReplaceAllString(s, ""), "")
	if i := strings.LastIndex(s, interruption); i >= 0 {
		s = s[i+len(interruption):]
	}
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "[Request interrupted") {
		return ""
	}
	return s
}

// Agents name their working directory to the model in a line of the system prompt or in a note of
// their own.
var workingDirectory = regexp.MustCompile(`(?i)(?:working directory:\s*|current directory is:?\s*|<cwd>|Workspace Directories:\**\s*-\s*)([^\s<]+)`)

// noteDirectory keeps the line of a note that names the agent's working directory.
func (c *conversation) noteDirectory(text string) {
	for _, note := range agentNotes.FindAllString(text, -1) {
		if line := workingDirectory.FindString(note); line != "" {
			c.system += "\n" + line
		}
	}
}

// directory is the agent's working directory, or "." when it does not say.
func (c *conversation) directory() string {
	if m := workingDirectory.FindStringSubmatch(c.system); m != nil {
		return m[1]
	}
	return "."
}

package agent

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Custom describes an agent of the person's own: any image, and any command that speaks MCP over
// standard input and output. These words are replaced in Command, Resume and Task, and in the values
// of Env and Files:
//
//	{task}          the task of a one-shot run; in Task only
//	{prompt}        the system prompt
//	{prompt-file}   the path of a file with the system prompt
//	{mcp-file}      the path of a file with the host's tools, in the common form:
//	                {"mcpServers": {"ironcurtain": {"command": …, "args": […]}}}
//	{mcp-command}   the command and arguments of that entry, as one line
//	{sentinel}      the sentinel
//	{conversation}  the UUID of the session's conversation
type Custom struct {
	Name      string
	Title     string            // empty: the name
	Image     string            // a reference, as in "docker run"
	Command   []string          // starts the agent on a terminal
	Resume    []string          // the same, but continues the conversation; empty: the agent cannot
	Task      []string          // runs one task and prints the answer; empty: the agent cannot
	Env       map[string]string // besides what every agent gets
	Files     map[string]string // text by path below the agent's home
	Providers []string          // model providers that the agent can use
	Tools     bool              // the agent connects to the host's tools before it is ready
	Paste     bool              // submit text as a paste
	Pause     time.Duration     // before the Enter that submits
}

// agentName matches the allowed names of agents.
var agentName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Adapter checks the description and makes an adapter of it.
func (c Custom) Adapter() (Adapter, error) {
	switch {
	case !agentName.MatchString(c.Name):
		return Adapter{}, fmt.Errorf("agent %q: a name has up to 32 small letters, digits and hyphens", c.Name)
	case c.Image == "" || len(c.Command) == 0:
		return Adapter{}, fmt.Errorf("agent %q: an image and a command are needed", c.Name)
	}
	for path := range c.Files {
		if !validFile(path) {
			return Adapter{}, fmt.Errorf("agent %q: file %q is not a path below its home", c.Name, path)
		}
	}
	a := Adapter{
		Name: c.Name, Title: c.Title, Image: c.Image, Foreign: true,
		Providers: c.Providers, KeysOnly: true, Tools: c.Tools,
		Launch: func(h Host) (Launch, error) { return c.launch(h, c.Command, "") },
		Submit: typed(c.Pause),
	}
	if a.Title == "" {
		a.Title = c.Name
	}
	if c.Paste {
		a.Submit = pasted(c.Pause)
	}
	if len(c.Resume) > 0 {
		a.Launch = func(h Host) (Launch, error) {
			if h.Resume {
				return c.launch(h, c.Resume, "")
			}
			return c.launch(h, c.Command, "")
		}
		a.Kept = keepsAnything
	}
	if len(c.Task) > 0 {
		a.Once = func(h Host, task string) (Launch, error) { return c.launch(h, c.Task, task) }
	}
	return a, nil
}

// keepsAnything reports whether a home contains more than the files that were written for
// the agent. The format of the agent's conversations is unknown.
func keepsAnything(home HomeDir, _ string) bool { return len(home.entries(".")) > 0 }

// validFile reports whether a relative path stays below its directory.
func validFile(path string) bool {
	if path == "" || strings.HasPrefix(path, "/") || strings.HasSuffix(path, "/") {
		return false
	}
	return !slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool {
		return part == "" || part == "." || part == ".."
	})
}

// launch replaces the words in braces and adds the files of the host's tools.
func (c Custom) launch(h Host, command []string, task string) (Launch, error) {
	var provider, sentinel string
	if len(c.Providers) > 0 {
		var err error
		if provider, sentinel, err = (Adapter{Name: c.Name, Providers: c.Providers}).provider(h); err != nil {
			return Launch{}, err
		}
	}
	tools := toolCommand()
	known := []string{
		"{prompt}", h.Prompt, "{prompt-file}", promptPath,
		"{mcp-file}", Orientation + "/mcp.json", "{mcp-command}", strings.Join(tools, " "),
		"{sentinel}", sentinel, "{conversation}", h.Conversation,
	}
	words := strings.NewReplacer(known...) // only the command depends on the task
	withTask := strings.NewReplacer(append(known, "{task}", task)...)
	l := Launch{Env: h.keyVariables(provider, sentinel)}
	for _, word := range command {
		l.Argv = append(l.Argv, withTask.Replace(word))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		l.Env = append(l.Env, name+"="+words.Replace(c.Env[name]))
	}
	for _, path := range slices.Sorted(maps.Keys(c.Files)) {
		l.Files = append(l.Files, homeFile(path, words.Replace(c.Files[path])))
	}
	servers := object{"mcpServers": object{toolServer: object{
		"type": "stdio", "command": tools[0], "args": tools[1:], "timeout": patience.Milliseconds(),
	}}}
	l.Files = append(l.Files, orientationFile("mcp.json", jsonText(servers)), promptFile(h.Prompt))
	return l, nil
}

package agent

import "time"

// toolServer is the name under which every agent knows the host's tools.
const toolServer = "ironcurtain"

// How long an agent waits before it gives up: for the tools when it starts, and for the
// answer to a call, which may wait for a person. No call waits for longer than a day.
const (
	toolStart = 30 * time.Second
	patience  = 24 * time.Hour
)

// toolCommand returns the command that carries MCP between its standard input and output
// and the host's tools.
func toolCommand() []string { return []string{Bridge, "mcp"} }

// promptFile returns the file with the system prompt, for agents that read it from a file.
func promptFile(prompt string) File { return orientationFile("prompt.md", prompt) }

// promptPath is the path of that file in the container.
const promptPath = Orientation + "/prompt.md"

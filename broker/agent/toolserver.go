package agent

import "time"

// toolServer is the name under which every agent knows the host's tools.
const toolServer = "ironcurtain"

// patience is how long a call of a tool may take before an agent gives it up: a
// person may take their time. No agent waits for longer than a day.
const patience = 24 * time.Hour

// toolCommand is the program that carries MCP between an agent's standard input
// and output and the host's tools.
func toolCommand() (command string, args []string) {
	return "socat", []string{"STDIO", "UNIX-CONNECT:" + ToolSocket}
}

// promptFile hands the system prompt to agents that read it from a file.
func promptFile(prompt string) File {
	return File{Path: "prompt.md", Data: []byte(prompt), Mode: 0o444, Orientation: true}
}

// promptPath is where that file is in the container.
const promptPath = Orientation + "/prompt.md"

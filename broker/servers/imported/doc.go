// Package imported reads the MCP servers that a person has set up for other agents: Claude
// Code, Codex, Gemini CLI and OpenCode. Find lists them in the form that config.json has for
// servers. It only reads; the person chooses which servers to import.
//
// The configurations often contain secrets. A value that may be a secret is not copied: the server
// gets a reference to a variable of the same name, and the person is told to set the variable.
package imported

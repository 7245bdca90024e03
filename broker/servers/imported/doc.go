// Package imported reads the MCP servers that a person has set up for other agents: Claude
// Code, Codex, Gemini CLI and OpenCode. Find lists what is in their configurations, in the
// form that config.json has for servers. It only reads; whether a server is taken is the
// person's choice.
//
// Those files often hold secrets. A value that may be one is not taken along: the server
// gets a reference to a variable of the same name, and the person is told to set it.
package imported

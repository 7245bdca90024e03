// Package toolservers is the command servers: MCP servers of the person's own, taken over from
// the configuration of other agents, and the person's logins at them.
package toolservers

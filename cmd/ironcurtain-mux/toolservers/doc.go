// Package toolservers is the command servers: it imports MCP servers from the configurations of
// other agents, and manages the person's logins at their own servers.
package toolservers

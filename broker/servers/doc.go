// Package servers knows the MCP servers that the program starts: which ones, in which versions, and
// how they are installed on this machine.
//
// A lock file that is part of the program has the versions and the hashes of all packages. Install
// passes it to npm, which gets the packages from the registry that npm is configured for, checks the
// hashes and runs none of the packages' scripts. The result is kept in the cache under the hash of
// the lock file, so that it is made once per machine. The package also reads mcp-servers.json, which
// can name other servers.
package servers

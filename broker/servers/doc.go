// Package servers brings the MCP servers the product starts: which ones, in
// which versions, and how they get onto this machine.
//
// The versions and the hashes of every file of theirs are in a lock file that
// is part of the program. Install hands it to npm, which gets the packages from
// whatever registry it is configured for, checks the hashes and runs none of
// the packages' own scripts. The result is kept in the cache under the hash of
// the lock file and is made once per machine. The package also reads
// mcp-servers.json, in which other servers can be named.
package servers

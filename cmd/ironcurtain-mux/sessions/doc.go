// Package sessions is the command sessions: listing, showing and removing sessions, running or
// on disk.
package sessions

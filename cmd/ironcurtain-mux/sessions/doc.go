// Package sessions is the command sessions: it lists, shows, lands and removes sessions, running or
// on disk.
package sessions

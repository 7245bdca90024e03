package agent

import (
	"encoding/json"
	"strings"
)

// File is one file that must exist before the agent starts.
type File struct {
	Path string // below the agent's home or, with Orientation set, below /etc/ironcurtain
	Data []byte
	Mode uint32 // permission bits
	// Orientation puts the file into the read-only directory.
	Orientation bool
	// Keep leaves an existing file as it is, unless its first line is that of Data.
	Keep bool
}

// homeFile returns a file in the agent's home that only the agent can read.
func homeFile(path, text string) File { return File{Path: path, Data: []byte(text), Mode: 0o600} }

// orientationFile returns a file that the agent can read and nobody in its container
// can change.
func orientationFile(path, text string) File {
	return File{Path: path, Data: []byte(text), Mode: 0o444, Orientation: true}
}

// jsonText encodes a value of this package as JSON, which never fails.
func jsonText(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("agent: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// object is a JSON object of an agent's configuration.
type object = map[string]any

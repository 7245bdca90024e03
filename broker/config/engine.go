package config

import "github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"

// Engine says which container engine is used, how it is reached, and how containers get files.
type Engine struct {
	Use      string `json:"use"`                // a docker context, an address or a socket; empty: found
	Way      string `json:"way"`                // "auto", "sockets" or "stream"
	Files    string `json:"files"`              // "auto", "shared" or "copied"
	Insecure bool   `json:"insecure,omitempty"` // whether plain TCP to another machine is wanted
}

// check refuses settings that exclude each other.
func (e Engine) check() error {
	if e.Files == "copied" && e.Way == "sockets" {
		return fault.New(`set "way" to "stream" or "auto", or "files" to "shared"`,
			`"copied" does not go with the way "sockets": mounted sockets are files of this machine, which an engine that needs copies does not see`)
	}
	return nil
}

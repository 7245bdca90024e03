package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tailscale/hujson"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// AddServers adds entries to mcpServers in the file at path, which is made if it is missing.
// The rest of the file keeps its content and order. Nothing is written if a name is
// taken or the file would be refused.
func AddServers(path string, entries map[string]any) error {
	before, err := Load(path)
	if err != nil {
		return err
	}
	data, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = []byte("{\n}\n"), nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	var patch []operation
	if len(before.MCPServers) == 0 {
		patch = append(patch, operation{"add", "/mcpServers", map[string]any{}})
	}
	for name, entry := range entries {
		if _, taken := before.MCPServers[name]; taken {
			return fmt.Errorf("%s: mcpServers has a server %q already", path, name)
		}
		patch = append(patch, operation{"add", "/mcpServers/" + name, entry})
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	file, err := hujson.Parse(data)
	if err == nil {
		err = file.Patch(text)
	}
	if err != nil {
		return fmt.Errorf("change %s: %w", path, err)
	}
	file.Format()
	data = file.Pack()
	if _, err := Parse(path, data); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a link stays one
	}
	return wholefile.Write(path, data, 0o600)
}

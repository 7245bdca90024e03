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
	return change(path, func(before Config) (patch []operation, err error) {
		if len(before.MCPServers) == 0 {
			patch = append(patch, operation{"add", "/mcpServers", map[string]any{}})
		}
		for name, entry := range entries {
			if _, taken := before.MCPServers[name]; taken {
				return nil, fmt.Errorf("%s: mcpServers has a server %q already", path, name)
			}
			patch = append(patch, operation{"add", "/mcpServers/" + name, entry})
		}
		return patch, nil
	})
}

// SetPrefix sets the prefix key in the file at path, which is made if it is missing; empty: none. The
// rest of the file keeps its content and order.
func SetPrefix(path, key string) error {
	return change(path, func(Config) ([]operation, error) {
		return []operation{{"add", "/prefix", key}}, nil
	})
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// change changes the file at path, which is made if it is missing. Nothing is written if the file
// would be refused, before or after.
func change(path string, patchOf func(before Config) ([]operation, error)) error {
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
	patch, err := patchOf(before)
	if err != nil {
		return err
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
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved // a link stays one
	}
	return wholefile.Write(path, data, 0o600)
}

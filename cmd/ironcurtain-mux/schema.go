package main

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/config"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
)

// schema returns the schema of config.json, with the actions that keys can be bound to.
func schema() ([]byte, error) {
	const open = `"properties": {},`
	before, after, found := bytes.Cut(config.Schema(), []byte(open))
	if !found {
		return nil, errors.New("the schema has no place for the actions")
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString("\"propertyNames\": {\n        \"enum\": [")
	properties := map[string]any{}
	for i, a := range input.BoundActions() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n          \"" + a.Name + "\"")
		properties[a.Name] = map[string]any{"description": a.Does, "default": a.Keys}
	}
	b.WriteString("\n        ]\n      },\n      \"properties\": ")
	var text bytes.Buffer
	encode := json.NewEncoder(&text)
	encode.SetEscapeHTML(false)
	encode.SetIndent("      ", "  ")
	if err := encode.Encode(properties); err != nil {
		return nil, err
	}
	b.Write(bytes.TrimSpace(text.Bytes()))
	b.WriteByte(',')
	b.Write(after)
	return b.Bytes(), nil
}

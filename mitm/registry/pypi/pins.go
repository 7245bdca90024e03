package pypi

import (
	"regexp"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// maxLockfile bounds a lockfile that is read, in bytes.
const maxLockfile = 16 << 20

// Pins reads requirements*.txt, poetry.lock, uv.lock, pdm.lock, pylock*.toml and Pipfile.lock.
func (Ecosystem) Pins(base string, data []byte) []registry.Pin {
	if len(data) > maxLockfile {
		return nil
	}
	switch {
	case base == "Pipfile.lock":
		return pipfilePins(data)
	case base == "poetry.lock", base == "uv.lock", base == "pdm.lock":
		return tomlPins(data)
	case base == "pylock.toml", strings.HasPrefix(base, "pylock.") && strings.HasSuffix(base, ".toml"):
		return tomlPins(data)
	case strings.HasSuffix(base, ".txt") && (strings.Contains(base, "requirements") || strings.Contains(base, "constraints")):
		return requirementPins(data)
	}
	return nil
}

// pin appends a pin if the version is valid.
func pin(pins []registry.Pin, name, text string) []registry.Pin {
	normal, named := normalize(name)
	v, versioned := parseVersion(text)
	if !named || !versioned {
		return pins
	}
	return append(pins, registry.Pin{Name: normal, Version: v.text})
}

// tomlPins reads a list of packages with names and versions.
func tomlPins(data []byte) (pins []registry.Pin) {
	registry.LockedPackages(data, func(texts map[string]string) { pins = pin(pins, texts["name"], texts["version"]) })
	return pins
}

// pipfilePins reads groups of packages: {"default": {"NAME": {"version": "==1.0"}}}.
func pipfilePins(data []byte) []registry.Pin {
	lock, err := jsonx.Parse(data, jsonx.Limits{Bytes: maxLockfile, Members: 2_000_000, Trusted: true})
	if err != nil {
		return nil
	}
	var pins []registry.Pin
	for _, group := range lock.Members {
		if group.Name == "_meta" {
			continue
		}
		for _, m := range group.Value.Members {
			v, _ := m.Value.Member("version")
			if text, ok := strings.CutPrefix(v.Text, "=="); ok {
				pins = pin(pins, m.Name, strings.TrimPrefix(text, "="))
			}
		}
	}
	return pins
}

// requirementForm matches a requirement for exactly one version.
var requirementForm = regexp.MustCompile(`^\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*\(?\s*===?\s*([^\s;,#\\)]+)`)

func requirementPins(data []byte) []registry.Pin {
	var pins []registry.Pin
	for line := range strings.Lines(string(data)) {
		if m := requirementForm.FindStringSubmatch(line); m != nil {
			pins = pin(pins, m[1], m[2])
		}
	}
	return pins
}

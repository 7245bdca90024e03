package gomod

import (
	"bytes"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// maxPins bounds the pins of one file.
const maxPins = 50_000

// Pins returns the versions that a go.mod, go.sum or go.work.sum names.
func (*Ecosystem) Pins(base string, data []byte) []registry.Pin {
	if base == "go.mod" {
		return required(data)
	}
	if base != "go.sum" && base != "go.work.sum" {
		return nil
	}
	var pins []registry.Pin
	seen := map[registry.Pin]bool{}
	for line := range bytes.Lines(data) {
		fields := strings.Fields(string(line))
		if len(fields) != 3 {
			continue
		}
		pin := registry.Pin{Name: fields[0], Version: strings.TrimSuffix(fields[1], "/go.mod")}
		if !canonical(pin.Name, pin.Version) || seen[pin] {
			continue
		}
		seen[pin] = true
		if pins = append(pins, pin); len(pins) == maxPins {
			break
		}
	}
	return pins
}

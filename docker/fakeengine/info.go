package fakeengine

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
)

// machines maps the name of an architecture in an engine's info to the name in its version.
var machines = map[string]string{"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm"}

// disguise changes what the engine reports about itself.
func (e *Engine) disguise(answer *http.Response) error {
	f, _ := e.now()
	info, version := infoPath.MatchString(answer.Request.URL.Path), versionPath.MatchString(answer.Request.URL.Path)
	if answer.StatusCode != http.StatusOK || !info && !version || f.Kernel == "" && f.OS == "" && f.Architecture == "" && !f.Rootless {
		return nil
	}
	var said map[string]any
	in := json.NewDecoder(answer.Body)
	in.UseNumber()
	err := in.Decode(&said)
	answer.Body.Close()
	if err != nil {
		return err
	}
	if info {
		set(said, "KernelVersion", f.Kernel)
		set(said, "OperatingSystem", f.OS)
		set(said, "Architecture", f.Architecture)
		if options, _ := said["SecurityOptions"].([]any); f.Rootless {
			said["SecurityOptions"] = append(options, "name=rootless")
		}
	} else {
		disguiseVersion(said, f)
	}
	text, err := json.Marshal(said)
	if err != nil {
		return err
	}
	answer.Body, answer.ContentLength, answer.TransferEncoding = io.NopCloser(bytes.NewReader(text)), int64(len(text)), nil
	answer.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return nil
}

func disguiseVersion(said map[string]any, f Faults) {
	architecture := f.Architecture
	if name, ok := machines[architecture]; ok {
		architecture = name
	}
	places := []map[string]any{said}
	components, _ := said["Components"].([]any)
	for _, c := range components {
		component, _ := c.(map[string]any)
		if details, ok := component["Details"].(map[string]any); ok && component["Name"] == "Engine" {
			places = append(places, details)
		}
	}
	for _, place := range places {
		set(place, "KernelVersion", f.Kernel)
		set(place, "Arch", architecture)
	}
	platform, _ := said["Platform"].(map[string]any)
	if platform != nil {
		set(platform, "Name", f.OS)
	}
}

// set sets a value unless it is empty.
func set(in map[string]any, name, value string) {
	if value != "" {
		in[name] = value
	}
}

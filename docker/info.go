package docker

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	engine "github.com/fsouza/go-dockerclient"
)

// Info describes the engine, as far as this program depends on it.
type Info struct {
	Product        string   `json:"product"`    // "Docker" or "Podman", for people only
	Version        string   `json:"version"`    // "20.10.24"
	APIVersion     string   `json:"apiVersion"` // "1.41"
	OS             string   `json:"os"`         // "Debian GNU/Linux 12 (bookworm)"
	Kernel         string   `json:"kernel"`
	Architecture   string   `json:"architecture"` // "x86_64", "aarch64"
	CPUs           int      `json:"cpus"`
	MemoryBytes    int64    `json:"memoryBytes"`
	InitBinary     string   `json:"initBinary"`  // "docker-init"
	InitVersion    string   `json:"initVersion"` // empty if the engine does not find its init program, or does not report it
	CgroupVersion  string   `json:"cgroupVersion"`
	Rootless       bool     `json:"rootless"`
	Seccomp        string   `json:"seccomp"`  // the profile in force: "default", "unconfined" or empty
	Warnings       []string `json:"warnings"` // limits that the engine cannot enforce
	StorageDriver  string   `json:"storageDriver"`
	Runtimes       []string `json:"runtimes"`   // by name, sorted
	LogDrivers     []string `json:"logDrivers"` // by name
	RootDir        string   `json:"rootDir"`    // where the engine keeps its images, on its own host
	EndpointSource string   `json:"endpointSource"`
	Endpoint       string   `json:"endpoint"`
}

// hostInfo is the engine's description of its host, with fields that the library does not read.
type hostInfo struct {
	engine.DockerInfo
	Plugins       struct{ Log []string }
	CgroupVersion string // empty: an older engine
	Rootless      bool   // set by Podman; Docker has a security option instead
}

// askHost asks the engine about its host.
func (c *Client) askHost(ctx context.Context) (host hostInfo, err error) {
	scheme := "http"
	if c.dial.tls != nil {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://docker/info", nil)
	if err != nil {
		return host, err
	}
	answer, err := c.base.RoundTrip(request)
	if err != nil {
		return host, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxMessage))
	if err != nil {
		return host, err
	}
	if answer.StatusCode != http.StatusOK {
		return host, &engine.Error{Status: answer.StatusCode, Message: string(body)}
	}
	return host, json.Unmarshal(body, &host)
}

// ask asks what the engine can do.
func (c *Client) ask(ctx context.Context) (Info, error) {
	api := c.bound(ctx)
	version, err := api.Version()
	if err != nil {
		return Info{}, translate(err)
	}
	host, err := c.askHost(ctx)
	if err != nil {
		return Info{}, translate(err)
	}
	info := Info{
		Product: product(version), Version: version.Get("Version"), APIVersion: version.Get("ApiVersion"),
		OS: host.OperatingSystem, Kernel: host.KernelVersion, Architecture: kernelArchitecture(host.Architecture),
		CPUs: host.NCPU, MemoryBytes: host.MemTotal, InitBinary: host.InitBinary,
		StorageDriver: host.Driver, RootDir: host.DockerRootDir,
		Runtimes:       slices.Sorted(maps.Keys(host.Runtimes)),
		EndpointSource: c.endpoint.Source, Endpoint: c.endpoint.Address,
		CgroupVersion: cmp.Or(host.CgroupVersion, "1"), Rootless: host.Rootless, LogDrivers: host.Plugins.Log,
	}
	for _, option := range host.SecurityOptions {
		fields := strings.Split(option, ",")
		switch {
		case slices.Contains(fields, "name=seccomp"):
			info.Seccomp = "default"
			for _, f := range fields {
				if p, ok := strings.CutPrefix(f, "profile="); ok && p != "builtin" {
					info.Seccomp = p
				}
			}
		case slices.Contains(fields, "name=rootless"):
			info.Rootless = true
		case slices.Contains(fields, "name=cgroupns"):
			info.CgroupVersion = "2"
		}
	}
	info.InitVersion = initVersion(version)
	info.Warnings = missingLimits(host, version, info)
	return info, nil
}

// kernelArchitecture returns the kernel's name of an architecture. Engines use either the kernel's
// name or Go's.
func kernelArchitecture(architecture string) string {
	switch architecture {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return architecture
}

// missingLimits lists the limits this engine cannot enforce.
func missingLimits(host hostInfo, version *engine.Env, info Info) []string {
	// With control groups of version 1 only root can set limits, whatever the engine reports.
	unlimited := info.Rootless && info.CgroupVersion == "1"
	var list []string
	for _, l := range []struct {
		has  bool
		text string
	}{
		{host.MemoryLimit && !unlimited, "memory of containers is not limited"},
		{host.CPUCfsQuota && !unlimited, "processor time of containers is not limited"},
		{!unlimited, "the number of processes of containers is not limited"},
		{!lacksInit(version), "the engine does not find its init program (docker-init)"},
		{info.Seccomp != "" && info.Seccomp != "unconfined", "system calls of containers are not filtered"},
	} {
		if !l.has {
			list = append(list, l.text)
		}
	}
	return list
}

// component is a program that an engine uses.
type component struct{ Name, Version string }

// components returns the programs that the engine reports to consist of, or none.
func components(version *engine.Env) (all []component) {
	if err := version.GetJSON("Components", &all); err != nil {
		return nil
	}
	return all
}

// product returns what people call the engine.
func product(version *engine.Env) string {
	if slices.ContainsFunc(components(version), func(c component) bool { return c.Name == "Podman Engine" }) {
		return podman
	}
	return "Docker"
}

// initProgram returns the init program that the engine reports. Podman does not report it.
func initProgram(version *engine.Env) (c component, reported bool) {
	all := components(version)
	i := slices.IndexFunc(all, func(c component) bool { return c.Name == "docker-init" })
	if i < 0 {
		return c, false
	}
	return all[i], true
}

// initVersion returns the version of the engine's init program, or an empty string when it is
// not known.
func initVersion(version *engine.Env) string {
	if lacksInit(version) {
		return ""
	}
	c, _ := initProgram(version)
	return c.Version
}

// lacksInit reports whether the engine's init program is not installed: the engine then lists it
// without a version.
func lacksInit(version *engine.Env) bool {
	c, reported := initProgram(version)
	return reported && (c.Version == "" || c.Version == "N/A")
}

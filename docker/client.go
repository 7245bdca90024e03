package docker

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	engine "github.com/fsouza/go-dockerclient"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Client talks to one engine. It is safe for concurrent use. It keeps idle connections only
// to an engine elsewhere, where a new one costs several round trips.
type Client struct {
	endpoint Endpoint
	dial     dialer
	base     *http.Transport
	api      *engine.Client // never called directly: bound returns a copy with a context
	info     Info
	cleanups sync.WaitGroup // removals that outlive the call that started them
	watch    watch
}

// Info describes the engine, as far as this program depends on it.
type Info struct {
	Version        string   `json:"version"`    // "20.10.24"
	APIVersion     string   `json:"apiVersion"` // "1.41"
	OS             string   `json:"os"`         // "Debian GNU/Linux 12 (bookworm)"
	Kernel         string   `json:"kernel"`
	Architecture   string   `json:"architecture"` // "x86_64", "aarch64"
	CPUs           int      `json:"cpus"`
	MemoryBytes    int64    `json:"memoryBytes"`
	InitBinary     string   `json:"initBinary"`  // "docker-init"
	InitVersion    string   `json:"initVersion"` // empty when the engine does not find its init program
	CgroupVersion  string   `json:"cgroupVersion"`
	Rootless       bool     `json:"rootless"`
	Seccomp        string   `json:"seccomp"`  // the profile in force: "default", "unconfined" or empty
	Warnings       []string `json:"warnings"` // limits that the engine cannot enforce
	StorageDriver  string   `json:"storageDriver"`
	Runtimes       []string `json:"runtimes"` // by name, sorted
	RootDir        string   `json:"rootDir"`  // where the engine keeps its images, on its own host
	EndpointSource string   `json:"endpointSource"`
	Endpoint       string   `json:"endpoint"`
}

// pingLimit is how long the engine may take to answer a ping.
const pingLimit = 10 * time.Second

// How many idle connections to an engine elsewhere are kept, and for how long.
const (
	maxIdle   = 4
	idleLimit = 90 * time.Second
)

// Probe checks that something listens at e, without sending a request. Its errors are
// those of Connect.
func Probe(ctx context.Context, e Endpoint) error {
	d, err := newDialer(e)
	if err == nil {
		err = e.advise(d.probe(ctx))
	}
	return fault.Wrap("connect to Docker", err, "")
}

// Connect checks that an engine answers at e and asks what it can do. Its errors say
// how it failed (ErrNoEngine, ErrEngineNotRunning, ErrPermission, ErrEngineRefuses) and
// carry a hint.
func Connect(ctx context.Context, e Endpoint) (*Client, error) {
	const op = "connect to Docker"
	d, err := newDialer(e)
	if err != nil {
		return nil, fault.Wrap(op, err, "")
	}
	if err := e.advise(d.probe(ctx)); err != nil {
		return nil, fault.Wrap(op, err, "")
	}
	address := e.Address
	if d.tls != nil {
		address = "https://" + d.address
	}
	// NewClient would ask for the engine's version at the first start of a container,
	// without a lock. NewVersionedClient asks here, once.
	api, err := engine.NewVersionedClient(address, "")
	if err != nil {
		return nil, fault.Wrap(op, because(ErrEndpoint, "%s: %v", e.Address, err), "")
	}
	c := &Client{endpoint: e, dial: d, api: api, base: &http.Transport{
		DialContext:       d.dialContext,
		TLSClientConfig:   d.tls,
		DisableKeepAlives: e.Local(),
		// More than that are dead after this machine has slept.
		IdleConnTimeout:     idleLimit,
		MaxIdleConnsPerHost: maxIdle,
	}}
	if err := c.meet(ctx); err != nil {
		c.base.CloseIdleConnections()
		return nil, fault.Wrap(op, err, refuseHint)
	}
	return c, nil
}

// meet checks that the engine answers and asks what it can do.
func (c *Client) meet(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	c.api = c.bound(ctx)
	if err := c.api.Ping(); err != nil {
		return refusal(ctx, c.endpoint, err)
	}
	if c.info, err = c.ask(ctx); err != nil {
		return refusal(ctx, c.endpoint, err)
	}
	return nil
}

// refusal describes how the engine failed to answer on a connection that it accepted.
func refusal(ctx context.Context, e Endpoint, err error) error {
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return because(ErrEngineRefuses, "no answer at %s within %s", e.Address, pingLimit)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return because(ErrEngineRefuses, "%s: %v", e.Address, translate(err))
}

// Version asks the engine again for what Connect learned about it.
func (c *Client) Version(ctx context.Context) (Info, error) {
	info, err := c.ask(ctx)
	return info, fault.Wrap("ask the engine for its version", err, refuseHint)
}

// Ping checks that the engine answers.
func (c *Client) Ping(ctx context.Context) error {
	if err := c.bound(ctx).Ping(); err != nil {
		return fault.Wrap("ask the engine", refusal(ctx, c.endpoint, err), refuseHint)
	}
	return nil
}

// Info returns what Connect learned about the engine.
func (c *Client) Info() Info { return c.info }

// retryPause is how long to wait before a request is made again that is to stay open and
// that an engine which is away has ended.
func (c *Client) retryPause() time.Duration {
	if c.endpoint.Local() {
		return 250 * time.Millisecond
	}
	return 2 * time.Second
}

// Endpoint returns the endpoint that the client is connected to.
func (c *Client) Endpoint() Endpoint { return c.endpoint }

// Close waits for removals that are still under way, at most until ctx ends, and closes
// idle connections. The client must not be used afterwards.
func (c *Client) Close(ctx context.Context) error {
	defer c.base.CloseIdleConnections()
	c.watch.stop()
	done := make(chan struct{})
	go func() { c.cleanups.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fault.Wrap("remove unfinished containers", ctx.Err(), "run 'ironcurtain-mux gc'")
	}
}

func (c *Client) ask(ctx context.Context) (Info, error) {
	api := c.bound(ctx)
	version, err := api.Version()
	if err != nil {
		return Info{}, translate(err)
	}
	host, err := api.Info()
	if err != nil {
		return Info{}, translate(err)
	}
	info := Info{
		Version: version.Get("Version"), APIVersion: version.Get("ApiVersion"),
		OS: host.OperatingSystem, Kernel: host.KernelVersion, Architecture: host.Architecture,
		CPUs: host.NCPU, MemoryBytes: host.MemTotal, InitBinary: host.InitBinary,
		StorageDriver: host.Driver, RootDir: host.DockerRootDir,
		Runtimes:       slices.Sorted(maps.Keys(host.Runtimes)),
		EndpointSource: c.endpoint.Source, Endpoint: c.endpoint.Address,
		CgroupVersion: "1",
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
	info.Warnings = missingLimits(host, info)
	return info, nil
}

// missingLimits lists the limits this engine cannot enforce.
func missingLimits(host *engine.DockerInfo, info Info) []string {
	var list []string
	for _, l := range []struct {
		has  bool
		text string
	}{
		{host.MemoryLimit, "memory of containers is not limited"},
		{host.CPUCfsQuota, "processor time of containers is not limited"},
		{info.InitVersion != "", "the engine does not find its init program (docker-init)"},
		{info.Seccomp != "" && info.Seccomp != "unconfined", "system calls of containers are not filtered"},
	} {
		if !l.has {
			list = append(list, l.text)
		}
	}
	return list
}

// initVersion returns the version of the engine's init program, or an empty string
// when the program is not installed: the engine then lists it without a version.
func initVersion(version *engine.Env) string {
	var components []struct{ Name, Version string }
	if err := version.GetJSON("Components", &components); err != nil {
		return ""
	}
	for _, c := range components {
		if c.Name == "docker-init" && c.Version != "N/A" {
			return c.Version
		}
	}
	return ""
}

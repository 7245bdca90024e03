package session

import (
	"crypto/x509"
	"log/slog"
	"net/url"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Config is what the broker is made of. All paths are absolute.
type Config struct {
	Home         string          // state: sessions/, run/
	UserHome     string          // the person's home directory
	CacheDir     string          // images and server packages, rebuilt when absent
	Agents       *agent.Registry // nil: the built-in ones
	DefaultAgent string
	Models       map[string]string // the models that agents use, by the agents' names
	Images       Images
	MaxSessions  int           // that run at the same time
	KeepSessions time.Duration // of sessions that are not used; 0: for ever

	// AutoApprove lets through what a person has just ordered; nil: everything
	// that escalates waits for them.
	AutoApprove *AutoApprove

	// GitHosts are what the git server can reach at all; the policy still judges
	// every call.
	GitHosts []string

	Compiled    *policy.Compiled
	Annotations *policy.Annotations
	Lists       *policy.Lists // may be nil
	Protected   []string      // paths no tool call may touch, besides Home
	Unprotected []string      // exceptions from Protected and Home
	// Setup are shell commands that run in the container before the agent, by the
	// real path of the workspace.
	Setup map[string]string
	// Worktree gives a session on a repository a worktree of it, unless its request
	// says otherwise.
	Worktree bool
	// Reachable are directories outside the workspace that the filesystem
	// server may serve at all; the policy still judges every call.
	Reachable []string
	// FetchServer is the command line of the server of http_fetch; empty: agents
	// have none.
	FetchServer []string
	// SandboxPolicy says what happens to a tool server that cannot be
	// sandboxed: "enforce" refuses it, "warn" starts and marks it.
	SandboxPolicy string

	EscalationTimeout time.Duration
	// ConfigFile is the file of this configuration, and CheckConfig says whether the next
	// start would take it as it is now. Without the second nobody is told of its changes.
	ConfigFile  string
	CheckConfig func() error
	// ReceiptHold is how long what a person typed in command mode may stand for
	// their consent; 0 means receipt.DefaultHold.
	ReceiptHold time.Duration
	Credentials Credentials
	Providers   []mitm.Provider     // the table of model providers; nil for the built-in one
	Secrets     []string            // values that never reach the audit
	HostShell   HostShell           // nil: no shell of this machine may be opened
	Upstreams   map[string]*url.URL // provider host to where its requests go instead
	UpstreamCAs *x509.CertPool      // more roots for upstreams; nil for the system's
	Resources   Resources
	Limits      budget.Limits // of what one session may use of its models
	Prices      budget.Prices // by which tokens become money
	Notice      string        // what every tab must say of itself
	Log         *slog.Logger
}

// Images is what the agents' images are built on; zero values take what the
// program knows by itself.
type Images struct {
	Base string            // an image of a registry
	From docker.BaseChoice // where the root file system comes from
}

// Resources bound one container; zero values take the defaults of docker.
type Resources struct {
	MemoryMB int
	CPUs     float64
	Pids     int
}

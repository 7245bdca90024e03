package session

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/url"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Config configures the broker and its sessions. All paths are absolute.
type Config struct {
	Home         string          // state: sessions/, run/
	UserHome     string          // the person's home directory
	CacheDir     string          // images and server packages, rebuilt when missing
	Agents       *agent.Registry // nil: the built-in ones
	DefaultAgent string
	Models       map[string]string // the models that agents use, by the agents' names
	Images       Images
	Engine       docker.Choice // the container engine that the person has named
	Runtime      string        // of the engine, which every container runs with; empty: the engine's default
	Ways         *reach.Ways   // how the containers of an engine are connected with the host, and get files
	MaxSessions  int           // how many may run at the same time
	KeepSessions time.Duration // how long unused sessions are kept; 0: for ever

	// AutoApprove approves calls that a person has just ordered. nil: every
	// escalation waits for a person.
	AutoApprove *AutoApprove

	// GitHosts are the hosts that the git server can always reach. The policy still
	// judges every call, and others are opened for single calls.
	GitHosts []string

	Compiled    *policy.Compiled
	Annotations *policy.Annotations
	Lists       *policy.Lists // may be nil
	// LoadPolicy reads the policy again; nil: it has no files.
	LoadPolicy func() (policy.Files, error)
	// PolicyFiles are the files of all policies in the configuration. No agent may change them.
	PolicyFiles []string
	Protected   []string // paths no tool call may touch, besides Home and PolicyFiles
	Unprotected []string // exceptions from Home, PolicyFiles and Protected
	// Setup maps the real path of a workspace to shell commands, which run in the
	// container before the agent.
	Setup map[string]string
	// Ports maps the real path of a workspace to ports of its containers that are opened
	// when a session starts.
	Ports map[string][]Port
	// Worktree gives a session on a repository a worktree of it, unless its request
	// says otherwise.
	Worktree bool
	// AgentPolicies are the directories of policies that hold for agents' sessions beside
	// Compiled, by agent. They can only hold back more.
	AgentPolicies map[string]string
	// CodeModes say which agents can run programs, and CodeProgram is the program that runs
	// one, without which none of them is served.
	CodeModes   map[string]codemode.Mode
	CodeProgram string
	// Furnish lays out the sandbox of a session: fresh, before its first agent begins, and in every
	// later life of the session, when an agent may have written there and may still run. Nil: the sandbox begins
	// empty.
	Furnish func(ctx context.Context, dir string, fresh bool) error
	// Reachable are directories outside the workspace that the filesystem server can
	// always use. The policy still judges every call, and others are opened for single
	// calls.
	Reachable []string
	// FetchServer is the command line of the server of http_fetch. Empty: agents do
	// not have that tool.
	FetchServer []string
	// Servers are the person's own MCP servers, by name. AddServer adds one to ConfigFile: a
	// command with its arguments, or the URL of a server. nil: none can be added.
	Servers   OwnServers
	AddServer func(name string, words []string) (servers.Config, error)
	// SandboxPolicy says what happens to a tool server that cannot be
	// sandboxed: "enforce" refuses it, "warn" starts and marks it.
	SandboxPolicy string

	EscalationTimeout time.Duration
	Away              time.Duration // for how long a call's time is paused while nobody is there
	// ConfigFile is the file of this configuration. CheckConfig returns an error if the
	// next start would refuse the file as it is now; nil: nobody is told of changes.
	ConfigFile  string
	CheckConfig func() error
	// Reload reads ConfigFile for sessions that open from then on; nil: it is read only once.
	Reload func() (Config, error)
	// ReceiptHold is how long a receipt can count as the person's consent; 0 means
	// receipt.DefaultHold.
	ReceiptHold time.Duration
	Credentials Credentials
	AgentKeys   map[string]AgentKey // by agent: the only credential of its sessions
	Providers   []mitm.Provider     // the table of model providers; nil for the built-in one
	GitHub      *GitHub             // whose API agents may use; Providers has it, too. nil: none
	// Packages returns the package registries that agents may use; nil: they use none.
	Packages    func(ctx context.Context) (*packages.Host, error)
	Secrets     []string  // values that never reach the audit
	HostShell   HostShell // nil: no shell of this machine may be opened
	Own         OwnAgent
	Upstreams   map[string]*url.URL // provider host to the address that its requests go to instead
	UpstreamCAs *x509.CertPool      // more roots for upstreams; nil for the system's
	Resources   Resources
	Limits      budget.Limits // how much one session may use of its models
	Prices      budget.Prices // what tokens cost
	Notice      string        // what every agent's tab must show all the time
	Log         *slog.Logger
	// OfProfile makes the configuration of a session that has a profile; nil: no session can
	// have one. What the profile names is read each time. It may block.
	OfProfile func(ctx context.Context, p stored.Profile) (Config, error)
}

// Images says what the agents' images are made of. Zero values mean the program's own
// choice.
type Images struct {
	From   docker.BaseChoice // the source of the root file system
	Recipe docker.Recipe     // what they contain beside the agents
}

// Resources limits one container. Zero values mean the defaults of package docker.
type Resources struct {
	MemoryMB int
	CPUs     float64
	Pids     int
}

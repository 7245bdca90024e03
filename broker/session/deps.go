package session

import (
	"context"
	"crypto/x509"
	"log/slog"
	"maps"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/agent"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/packages"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/reach"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Deps is what a session needs from its process. All sessions without a profile share it. One
// with a profile has a Config of its own, Servers of its own, and no Policy.
type Deps struct {
	Config    *Config
	Log       *slog.Logger
	Approvals *approval.Queue
	Receipts  *receipt.Store
	Grants    *grant.Store
	Ledger    *budget.Ledger
	Policy    *atomic.Pointer[policy.Files] // in force; nil, or empty: that of Config
	Servers   *atomic.Pointer[OwnServers]   // that new sessions have; nil, or empty: those of Config
	Tools     *mcpproxy.Known               // the servers' tools, known once a session has started the servers
	Engine    func(context.Context) (*docker.Client, error)
	Events    Events
	Context   context.Context // ends every session
	Hurried   context.Context // ends when the process must end within two seconds
}

// OwnServers are the person's own tool servers, by name. A map that is in use is not changed.
type OwnServers = map[string]servers.Config

// servers returns the person's own servers.
func (d *Deps) servers() OwnServers {
	if d.Servers != nil {
		if all := d.Servers.Load(); all != nil {
			return *all
		}
	}
	return d.Config.Servers
}

// Know adds one of the person's own servers to those of new sessions.
func (d *Deps) Know(name string, c servers.Config) {
	all := OwnServers{name: c}
	maps.Copy(all, d.servers())
	d.Servers.Store(&all)
}

// PolicyInForce returns the policy in force.
func (d *Deps) PolicyInForce() policy.Files {
	if d.Policy != nil {
		if f := d.Policy.Load(); f != nil {
			return *f
		}
	}
	return policy.Files{Policy: d.Config.Compiled, Annotations: d.Config.Annotations, Lists: d.Config.Lists}
}

// Events receives what happens in sessions. Its methods return at once.
type Events interface {
	// Changed tells that a session's state or description has changed.
	Changed(s stored.Session)
	// Progressed tells of a step of starting a session.
	Progressed(p Progress)
	// Spent tells what a session has used of its models.
	Spent(b Budget)
	// Moved tells what comes in of a session's packages.
	Moved(p Moving)
	// AutoApproved tells that a call was let through because a receipt ordered it.
	AutoApproved(a AutoApproval)
	// Noticed tells the person something.
	Noticed(n Notice)
	// Left tells what a person has to know about a session after its end. The lines
	// replace earlier lines of the same session and topic; no lines remove them.
	Left(id stored.ID, about EndTopic, lines ...string)
}

// Progress reports on one step of starting a session. The first report of a step has
// Elapsed 0; the last one says that the step is done or has failed. In between there is a
// report every second and when a builder writes a line, though not for every line:
// StartLog has all lines.
type Progress struct {
	Session stored.ID     `json:"session"`
	Step    string        `json:"step"`             // "build image shell (step 2 of 3)"
	Detail  string        `json:"detail,omitempty"` // last line of the builder's output, not to be trusted
	Elapsed time.Duration `json:"elapsed"`          // of the step
	Done    bool          `json:"done"`
	Failed  bool          `json:"failed,omitempty"`
	Tail    []string      `json:"tail,omitempty"` // the builder's last lines, if the step has failed
}

// Notice is a message for the person. One without a text takes back those about the same of the
// same session, because they are true no more.
type Notice struct {
	Session stored.ID `json:"session,omitempty"` // empty: the whole program
	Urgent  bool      `json:"urgent"`            // stays until it is read
	About   string    `json:"about,omitempty"`   // what must last for the text to be true; empty: nothing
	Text    string    `json:"text"`
}

// EndTopic is the topic of a part of an end notice. The parts are shown in the order of
// the topics' numbers.
type EndTopic int

const (
	aboutWork     EndTopic = iota // where the work is
	aboutDisarmed                 // what was moved out of git's way
	aboutObeyed                   // what programs of this machine would run
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

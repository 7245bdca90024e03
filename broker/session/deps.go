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

// Deps is what a session needs from its process. All sessions without a profile share one. A session
// with a profile has its own Config and Servers, and no Policy.
type Deps struct {
	Config    *Config
	Log       *slog.Logger
	Approvals *approval.Queue
	Receipts  *receipt.Store
	Grants    *grant.Store
	Ledger    *budget.Ledger
	Policy    *atomic.Pointer[policy.Files] // the policy in force; nil, or empty: that of Config
	Servers   *atomic.Pointer[OwnServers]   // for new sessions; nil, or empty: those of Config
	Tools     *mcpproxy.Known               // the servers' tools, known once a session has started the servers
	Engine    func(context.Context) (*docker.Client, error)
	Events    Events
	Context   context.Context // ends every session
	Hurried   context.Context // ends when the process must end within two seconds
}

// OwnServers are the person's own tool servers, by name. The map is replaced, never changed.
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

// Know adds a server of the person's own for new sessions.
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
	// Changed reports a session's new state or description.
	Changed(s stored.Session)
	// Progressed reports on a step of starting a session.
	Progressed(p Progress)
	// Spent reports what a session has used of its models.
	Spent(b Budget)
	// Moved reports the downloads of a session's packages.
	Moved(p Moving)
	// AutoApproved reports a call that was approved because a receipt ordered it.
	AutoApproved(a AutoApproval)
	// Noticed shows a message to the person.
	Noticed(n Notice)
	// Left reports what the person has to know about a session after its end. The lines replace
	// earlier ones of the same session and topic; no lines remove them.
	Left(id stored.ID, about EndTopic, lines ...string)
}

// Progress reports on one step of starting a session. The first report of a step has Elapsed 0; the
// last one has Done or Failed. In between, reports come every second and with some of the builder's
// lines; StartLog has all lines.
type Progress struct {
	Session stored.ID     `json:"session"`
	Step    string        `json:"step"`             // "build image shell (step 2 of 3)"
	Detail  string        `json:"detail,omitempty"` // last line of the builder's output, not to be trusted
	Elapsed time.Duration `json:"elapsed"`          // of the step
	Done    bool          `json:"done"`
	Failed  bool          `json:"failed,omitempty"`
	Tail    []string      `json:"tail,omitempty"` // the builder's last lines, if the step has failed
}

// Notice is a message for the person. A Notice without a text removes the session's earlier ones with
// the same About, because they are no longer true.
type Notice struct {
	Session stored.ID `json:"session,omitempty"` // empty: the whole program
	Urgent  bool      `json:"urgent"`            // stays until it is read
	About   string    `json:"about,omitempty"`   // the condition that the text reports; empty: it cannot be removed
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
	Models       map[string]string // agents' names to the models that they use
	Images       Images
	Engine       docker.Choice // the container engine that the person has named
	Runtime      string        // the engine's runtime for all containers; empty: the engine's default
	Ways         *reach.Ways   // the way and the files of each engine
	MaxSessions  int           // how many may run at the same time
	KeepSessions time.Duration // how long unused sessions are kept; 0: for ever

	// AutoApprove approves calls that the person has just ordered. nil: every escalation waits.
	AutoApprove *AutoApprove

	// GitHosts are the hosts that the git server can always reach, and other hosts only during an
	// approved call. The policy still judges every call.
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
	// Worktree makes the workspace a worktree if a session is opened on a repository, unless the
	// request says otherwise.
	Worktree bool
	// AgentPolicies maps agents' names to directories with further policies for their sessions. Such
	// a policy can only be stricter than the policy in force.
	AgentPolicies map[string]string
	// CodeModes says which agents can make programs, by name. CodeProgram is the executable of the
	// isolate that runs them.
	CodeModes   map[string]codemode.Mode
	CodeProgram string
	// Furnish fills the sandbox of a session. fresh is true in the session's first life, before an
	// agent starts. In later lives an agent has written there, and may still run. nil: the sandbox
	// starts empty.
	Furnish func(ctx context.Context, dir string, fresh bool) error
	// Reachable are directories outside the workspace that the filesystem server can always use, and
	// other directories only during an approved call. The policy still judges every call.
	Reachable []string
	// FetchServer is the command line of the server with the tool http_fetch. Empty: agents do not
	// have that tool.
	FetchServer []string
	// Servers are the person's own MCP servers, by name. AddServer adds one to ConfigFile; words are
	// its command with arguments, or its URL. nil: none can be added.
	Servers   OwnServers
	AddServer func(name string, words []string) (servers.Config, error)
	// SandboxPolicy says what happens to a tool server that cannot be
	// sandboxed: "enforce" refuses it, "warn" starts and marks it.
	SandboxPolicy string

	EscalationTimeout time.Duration
	Away              time.Duration // how long a call's time limit is paused at most while nobody is there
	// ConfigFile is the file of this configuration. CheckConfig returns an error if the file is
	// invalid now; nil: it is not checked.
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
	GitHub      *GitHub             // the GitHub server whose API agents may use, also in Providers; nil: none
	// Packages returns the package registries that agents may use; nil: they use none.
	Packages    func(ctx context.Context) (*packages.Host, error)
	Secrets     []string  // values that are never written to the audit
	HostShell   HostShell // nil: no shell of this machine may be opened
	Own         OwnAgent
	Upstreams   map[string]*url.URL // provider host to the address that its requests go to instead
	UpstreamCAs *x509.CertPool      // more roots for upstreams; nil for the system's
	Resources   Resources
	Limits      budget.Limits // how much one session may use of its models
	Prices      budget.Prices // what tokens cost
	Notice      string        // what every agent's tab shows all the time
	Log         *slog.Logger
	// OfProfile returns the configuration of a session with a profile; nil: no session can have one.
	// It reads the files that the profile names each time. It may block.
	OfProfile func(ctx context.Context, p stored.Profile) (Config, error)
}

// Images says what the agents' images are made of. Zero values mean the program's defaults.
type Images struct {
	From   docker.BaseChoice // the source of the root file system
	Recipe docker.Recipe     // what they contain besides the agents
}

// Resources limits one container. Zero values mean the defaults of package docker.
type Resources struct {
	MemoryMB int
	CPUs     float64
	Pids     int
}

package session

import (
	"context"
	"log/slog"
	"maps"
	"sync/atomic"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
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

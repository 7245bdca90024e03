package session

import (
	"context"
	"log/slog"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/stored"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// Deps is what a session needs of the process that it lives in. All sessions share it.
type Deps struct {
	Config    *Config
	Log       *slog.Logger
	Approvals *approval.Queue
	Receipts  *receipt.Store
	Grants    *grant.Store
	Ledger    *budget.Ledger
	Tools     *mcpproxy.Known // what the tool servers offer, once one session has started them
	Engine    func(context.Context) (*docker.Client, error)
	Events    Events
	Context   context.Context // ends every session
	Hurried   context.Context // ends when the process must end within two seconds
}

// Events is told what happens in sessions. Its methods return at once.
type Events interface {
	// Changed tells that a session is another one than it was.
	Changed(s stored.Session)
	// Progressed tells of a step of starting a session.
	Progressed(p Progress)
	// Spent tells what a session has used of its models.
	Spent(b Budget)
	// AutoApproved tells that a call was let through because a receipt ordered it.
	AutoApproved(a AutoApproval)
	// Noticed tells the person something.
	Noticed(n Notice)
	// Left says what a person has to know of a session after its end. It replaces what
	// was said of the same topic before.
	Left(id stored.ID, about EndTopic, lines ...string)
}

// Progress is a word about a step of starting a session. Of each step there is one
// with Elapsed 0 when it begins and one when it is done or has failed; in between
// they come when a builder says something and every second, but not for every line:
// StartLog has all of them.
type Progress struct {
	Session stored.ID     `json:"session"`
	Step    string        `json:"step"`             // "build image shell (step 2 of 3)"
	Detail  string        `json:"detail,omitempty"` // last line of the builder's output, not to be trusted
	Elapsed time.Duration `json:"elapsed"`          // of the step
	Done    bool          `json:"done"`
	Failed  bool          `json:"failed,omitempty"`
	Tail    []string      `json:"tail,omitempty"` // the builder's last lines, when it has failed
}

// Notice is a message for the person.
type Notice struct {
	Session stored.ID `json:"session,omitempty"` // empty: the whole program
	Urgent  bool      `json:"urgent"`            // stays until it is read
	Text    string    `json:"text"`
}

// EndTopic is what a part of an end notice is about; the parts are shown in this order.
type EndTopic int

const (
	aboutWork     EndTopic = iota // where the work is
	aboutDisarmed                 // what was moved out of git's way
	aboutObeyed                   // what programs of this machine would run
)

package broker

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/budget"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/docker"
)

// deps is what a session needs of the process that it lives in. All sessions share it.
type deps struct {
	config    *Config
	log       *slog.Logger
	approvals *approval.Queue
	receipts  *receipt.Store
	grants    *grant.Store
	ledger    *budget.Ledger
	tools     *mcpproxy.Known // what the tool servers offer, once one session has started them
	engine    func(context.Context) (*docker.Client, error)
	events    events
	ctx       context.Context // ends every session
	hurried   *atomic.Bool    // see Broker.Hurry
}

// events is who is told what happens in a session. Its methods return at once.
type events interface {
	// Changed tells that a session is another one than it was.
	Changed(s Session)
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
	Left(id SessionID, about endTopic, lines ...string)
}

// Progress is a word about a step of starting a session. Of each step there is one
// with Elapsed 0 when it begins and one when it is done or has failed; in between
// they come when a builder says something and every second, but not for every line:
// StartLog has all of them.
type Progress struct {
	Session SessionID     `json:"session"`
	Step    string        `json:"step"`             // "build image shell (step 2 of 3)"
	Detail  string        `json:"detail,omitempty"` // last line of the builder's output, not to be trusted
	Elapsed time.Duration `json:"elapsed"`          // of the step
	Done    bool          `json:"done"`
	Failed  bool          `json:"failed,omitempty"`
	Tail    []string      `json:"tail,omitempty"` // the builder's last lines, when it has failed
}

// Notice is a message for the person.
type Notice struct {
	Session SessionID `json:"session,omitempty"` // empty: the whole program
	Urgent  bool      `json:"urgent"`            // stays until it is read
	Text    string    `json:"text"`
}

// endTopic is what a part of an end notice is about; the parts are told in this order.
type endTopic int

const (
	aboutWork     endTopic = iota // where the work is
	aboutDisarmed                 // what was moved out of git's way
	aboutObeyed                   // what programs of this machine would run
)

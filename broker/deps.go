package broker

import (
	"context"
	"log/slog"

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

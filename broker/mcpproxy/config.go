package mcpproxy

import (
	"context"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/approval"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/audit"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/codemode"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/grant"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/outbound"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// Judge decides calls; *policy.Engine is one.
type Judge interface {
	EvaluateContext(context.Context, policy.Call) policy.Verdict
	Visible(server, tool string) bool
	SchemaMatches(server, tool string, live []byte) error
	Changed(server string, now policy.Definition) string
	ToContainer(text string) string
	Behavior(server, tool string) policy.Behavior
	Hash() string
}

// Recorder makes decisions durable; *audit.Log is one.
type Recorder interface {
	Append(ctx context.Context, r audit.Record) error
	Post(ctx context.Context, r audit.Record) error // for records that nothing depends on; must not block
	Full() error                                    // an error when there is no room for the records of another call
}

// Orders knows what a person has just ordered.
type Orders interface {
	// Ordered answers a call that the person has just ordered. It reports false for a
	// call that needs the person's decision, and may note the reason in the call.
	Ordered(e *approval.Escalation) (approval.Resolution, bool)
}

// Config is everything a proxy needs.
type Config struct {
	Session   string
	Engine    Judge
	Servers   []sandbox.Spec
	Sandbox   *sandbox.Host
	Approvals *approval.Queue // nil: a call that needs a person is refused
	Grants    *grant.Store    // nil: nothing is allowed beforehand
	Orders    Orders          // nil: what a person types lets no call through
	Preview   Previewer       // nil: a person sees the arguments alone
	// Commits says whether a tool makes commits, and which. Nil: no tool does.
	Commits func(server, tool string) Commits
	Audit   Recorder
	// Workspace keeps the agent's copy of the workspace equal to that of the tools. nil: they share
	// one.
	Workspace Workspace
	// EscalationTimeout is how long a call waits for a person; 0 leaves it to
	// the queue.
	EscalationTimeout time.Duration
	// StageDir is a directory for the stages of calls, which no sandbox and no agent can
	// read. It is made when it is needed.
	StageDir string
	// Activity is called with each event, so that the event can be shown. It must not
	// block. It may be nil.
	Activity func(Activity)
	// Particulars returns sentences for agents about this session: what is open to the
	// servers, and limits. It may be nil.
	Particulars func() []string
	// Stopped returns why no call is let through for now, or nil. It may be nil.
	Stopped func() error
	Secrets []string // known values that never reach the agent
	// Web makes the web requests of servers whose network is judged. The zero
	// value reaches the public web; hosts that a server lists as private are
	// added for that server.
	Web outbound.Client
	// Known holds the tools of the servers, which then run only while calls need them.
	// If it is nil, the servers run all the time.
	Known *Known
	// Builtins are tools that the host carries out itself.
	Builtins []Builtin
	// Programs runs programs of the agent that make calls. nil: it has none.
	Programs *codemode.Runner
	// OnlyPrograms offers the agent programs alone, and none of the tools that they call.
	OnlyPrograms bool
	// Journals is a directory for the journals of programs. By its journal, a program that waits
	// for a person can be run again if this process is killed. Empty: programs end with this
	// process.
	Journals string
	// Past reads the session's records, oldest first. They tell an agent what its program did
	// before another process was killed. It may be nil.
	Past func(each func(audit.Line) error) error
	// Tickets makes the proxy send clients a ticket for each waiting call, by which they can resume
	// the call if this process is killed.
	Tickets bool
	Widen   string // how a person opens a directory to the sandboxes, for agents to pass on
	Limits  Limits
}

// Limits bound what agents and servers can use up. Zero means the default.
type Limits struct {
	Request     int           // bytes of a message of an agent's; 4 MiB
	Line        int           // bytes of a message of a server's; 10 MiB
	Room        int           // bytes of calls and answers in memory; 16 MiB, a quarter of it for answers
	Clients     int           // connections at a time; 64
	InFlight    int           // unanswered requests of one connection; 256
	PerServer   int           // calls that one server works on at a time; 32
	Call        time.Duration // time a server has for a call; 5 minutes
	Start       time.Duration // time a server has to start; 2 minutes
	Tools       int           // tools of one server; 512
	Escalations int           // calls a minute that may ask a person; 120
	Alike       int           // of them, those that differ in details only; 60
	Repeats     int           // equal calls a minute; 0 means no limit
	Progress    time.Duration // between progress notifications; 3 seconds
	Roots       time.Duration // time a server has to apply changed roots; 5 seconds
	Backoff     time.Duration // before the first restart of a server; 250 ms
	Idle        time.Duration // without calls, before a server whose tools are known is stopped; 2 minutes
}

func (l Limits) orDefaults() Limits {
	number := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	span := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	number(&l.Request, 4<<20)
	number(&l.Line, 10<<20)
	number(&l.Room, DefaultRoom)
	number(&l.Clients, 64)
	number(&l.InFlight, 256)
	number(&l.PerServer, 32)
	number(&l.Tools, 512)
	number(&l.Escalations, 120)
	number(&l.Alike, 60)
	span(&l.Call, 5*time.Minute)
	span(&l.Start, 2*time.Minute)
	span(&l.Progress, 3*time.Second)
	span(&l.Roots, 5*time.Second)
	span(&l.Backoff, 250*time.Millisecond)
	span(&l.Idle, 2*time.Minute)
	return l
}

package broker

import (
	"context"
	"encoding/json"
	"io"
	"time"
)

// API is everything a user interface can ask of the broker. Implementations
// are safe for concurrent use. Errors are one line: operation, cause, and, by a
// Hint() string method, what to do next.
type API interface {
	// Agents lists the agents a session can be opened with.
	Agents(ctx context.Context) ([]Agent, error)
	// Open creates a session and begins to start its agent. It returns as soon
	// as the session has an identity; what happens next arrives as events.
	Open(ctx context.Context, r OpenRequest) (Session, error)
	// Attach connects to the terminal of a session's agent. It waits until the
	// agent runs or the context ends. One attachment at a time.
	Attach(ctx context.Context, id SessionID) (Terminal, error)
	// Close ends a session: its agent, its container and its sockets. It also
	// ends one that was left running when its multiplexer was killed.
	Close(ctx context.Context, id SessionID) error
	// Sessions lists the open sessions in the order of their tabs.
	Sessions(ctx context.Context) ([]Session, error)
	// Stored lists the sessions on disk, those used last first; each can be
	// resumed by Open unless it is owned.
	Stored(ctx context.Context) ([]StoredSession, error)
	// Changes shows what has changed in a session's workspace since its start.
	Changes(ctx context.Context, id SessionID) (Changes, error)
	// StartLog tells how a session was started, or how far that is.
	StartLog(ctx context.Context, id SessionID) (StartLog, error)
	// Pending lists what waits for a person, oldest first.
	Pending(ctx context.Context) ([]Escalation, error)
	// Decide answers one escalation. The first answer wins; a later one gets
	// the resolution that already stands, with Won false.
	Decide(ctx context.Context, d Decision) (Resolution, error)
	// Scopes lists what an approval of a waiting call could be remembered for,
	// the narrowest first, each with how many past calls it would have let
	// through. It reads audit logs and takes up to a few seconds. No scopes
	// means that the call cannot be remembered.
	Scopes(ctx context.Context, id string) ([]Scope, error)
	// Rules lists the remembered approvals in force, oldest first.
	Rules(ctx context.Context) ([]Rule, error)
	// Revoke ends a rule; by says who does it.
	Revoke(ctx context.Context, number int, by string) (Rule, error)
	// History lists the latest decisions of the open sessions, newest first,
	// at most limit of them.
	History(ctx context.Context, limit int) ([]Decided, error)
	// Submit records text that a person typed into the multiplexer itself and
	// returns its receipt together with the bytes to type into the agent.
	Submit(ctx context.Context, in TrustedInput) (Receipt, error)
	// AutoApprovals lists the calls of a session that were let through
	// because a receipt ordered them, oldest first, at most the last fifty.
	AutoApprovals(ctx context.Context, id SessionID) ([]AutoApproval, error)
	// Forget drops what is left of a session's receipt. Without one it is an
	// error.
	Forget(ctx context.Context, id SessionID) error
	// Budgets tells what the open sessions have used of their models and what
	// they may use.
	Budgets(ctx context.Context) (Budgets, error)
	// RaiseBudget lets a session use more: "+5" of US dollars, "+200k tokens",
	// "+50 requests", "+30m".
	RaiseBudget(ctx context.Context, id SessionID, by string) (Budget, error)
	// Subscribe streams events from now on. Delivery is certain: at most 256
	// events wait for a slow reader, then the channel is closed and the reader
	// subscribes again and lists anew. The channel closes when ctx ends.
	Subscribe(ctx context.Context) (<-chan Event, error)
}

// SessionID names a session for as long as its directory exists.
type SessionID string

// Agent is one kind of agent that a session can run.
type Agent struct {
	Name  string `json:"name"`  // as in --agent: "claude-code"
	Title string `json:"title"` // for people: "Claude Code"
}

// OpenRequest says what a new session shall be.
type OpenRequest struct {
	Agent     string `json:"agent"`     // empty: the configured default
	Workspace string `json:"workspace"` // empty: a fresh sandbox
	// Worktree says whether it gets a worktree of the workspace instead of the
	// workspace itself.
	Worktree WorktreeChoice `json:"worktree,omitempty"`
	// Resume continues a stored session in its own workspace instead of making
	// a new one; Agent and Workspace are the session's own then.
	Resume SessionID `json:"resume,omitempty"`
	Cols   int       `json:"cols"`
	Rows   int       `json:"rows"`
	// Idle sessions run no agent on a terminal: Broker.Turn gives it tasks.
	Idle bool `json:"idle,omitempty"`
}

// SessionState is where a session stands in its life. It comes from what the
// broker itself sees, never from the agent's screen.
type SessionState string

// The states of a session.
const (
	StateStarting SessionState = "starting" // image, container and proxies are being made
	StateIdle     SessionState = "idle"     // the agent runs and asks for nothing
	StateWorking  SessionState = "working"  // a model request or a tool call is under way
	StateWaiting  SessionState = "waiting"  // a call waits for a person
	StateDead     SessionState = "dead"     // the agent has ended; the tab keeps its last screen
	StateClosed   SessionState = "closed"   // everything of it is removed
)

// Session describes one tab's session.
type Session struct {
	ID        SessionID    `json:"id"`
	Tab       int          `json:"tab"` // from 1, never reused
	Agent     string       `json:"agent"`
	State     SessionState `json:"state"`
	Workspace string       `json:"workspace"`          // on the host
	Worktree  *Worktree    `json:"worktree,omitempty"` // of which the workspace is one; or nil
	CreatedAt time.Time    `json:"createdAt"`
	Reason    string       `json:"reason,omitempty"`   // why it is dead
	ExitCode  int          `json:"exitCode,omitempty"` // of the agent, when dead
	// Trouble says why the agent can be neither seen nor reached at present.
	Trouble string `json:"trouble,omitempty"`
	Notice  string `json:"notice,omitempty"` // what the tab must always say: "scripted model"
	// Ephemeral says that nothing of the agent is kept: it cannot be resumed.
	Ephemeral bool `json:"ephemeral,omitempty"`
}

// StoredSession is a session as its directory tells of it.
type StoredSession struct {
	Session
	LastActivity time.Time `json:"lastActivity"`
	// LastPrompt is what the person asked last. It comes from files of the
	// agent and is no more to be trusted than its screen.
	LastPrompt string `json:"lastPrompt,omitempty"`
	// Begun says that the agent has a conversation it can go on with.
	Begun bool `json:"begun"`
	// Owned says that a process has the session open; it cannot be resumed.
	Owned bool `json:"owned"`
	// Detached says that its multiplexer was killed and its agent may still run.
	Detached bool `json:"detached"`
	// Waiting counts the calls of a detached session that waited for a person.
	Waiting int `json:"waiting,omitempty"`
}

// Terminal is the attachment to an agent's terminal. Close detaches and leaves the
// agent running. Write types; it blocks while the agent does not read.
type Terminal interface {
	io.WriteCloser
	// CopyTo hands everything that the agent writes to w, in order, until the
	// agent has ended, which is no error, Close is called, which is none
	// either, or w fails. An agent is held back while w is written to. It is to
	// be called once.
	CopyTo(w io.Writer) error
	// TryWrite types what the agent takes without waiting and returns how many
	// bytes that was; none, where that cannot be known.
	TryWrite(p []byte) (int, error)
	// History is how many of the bytes that CopyTo hands out first are from before
	// the agent was taken back: what they ask of a terminal was answered then.
	History() int64
	// Resize tells the agent the size of its screen.
	Resize(ctx context.Context, cols, rows int) error
}

// Escalation is a call that waits for a person.
type Escalation struct {
	ID        string          `json:"id"`
	Number    int             `json:"number"` // short, for /approve N; from 1, never reused
	Session   SessionID       `json:"session"`
	Tab       int             `json:"tab"`
	Plane     string          `json:"plane"` // "tool" or "http"
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`           // canonical: what will be forwarded
	Requested json.RawMessage `json:"requested,omitempty"` // as the agent wrote it
	Effect    *Effect         `json:"effect,omitempty"`    // what it would do
	Rule      string          `json:"rule"`
	Reason    string          `json:"reason"`
	Digest    string          `json:"digest"` // of server, tool and canonical arguments
	AskedAt   time.Time       `json:"askedAt"`
	ExpiresAt time.Time       `json:"expiresAt"`
	// More counts calls like it that were refused without asking, because too
	// many asked.
	More     int    `json:"more,omitempty"`
	Likeness string `json:"likeness,omitempty"` // the same for calls that differ in details only
	// Restored says that a multiplexer was asked that was killed while the call
	// waited. Unclaimed says that no caller waits for the answer at present: it is
	// kept for a few minutes, for the same call should it be made again.
	Restored  bool `json:"restored,omitempty"`
	Unclaimed bool `json:"unclaimed,omitempty"`
	// Auto is what the automatic approval makes of it; nil when it has no say.
	Auto *AutoLook `json:"auto,omitempty"`
}

// AutoLook is a look of the automatic approval at a call that waits.
type AutoLook struct {
	Receipt int       `json:"receipt"`
	Since   time.Time `json:"since"`
	// Reason is why the call is left to a person; empty while a model judges.
	Reason string `json:"reason,omitempty"`
}

// Decision answers one escalation.
type Decision struct {
	ID      string `json:"id"`
	Digest  string `json:"digest"` // of what the person saw; it must still match
	Approve bool   `json:"approve"`
	Reason  string `json:"reason,omitempty"` // told to the agent when denied
	By      string `json:"by"`               // "tui", "cli"
	// Remember makes an approval stand for calls to come.
	Remember *Remember `json:"remember,omitempty"`
}

// Remember says for what and for how long an approval is remembered.
type Remember struct {
	Scope   string `json:"scope"`             // the name of one of the call's scopes
	Seconds int    `json:"seconds,omitempty"` // from now; 0 means 15 minutes, at most 8 hours
}

// Scope is one way to remember the approval of a call.
type Scope struct {
	Name    string `json:"name"`    // "exact", "file", "host", "remote", "target" or "directory"
	Text    string `json:"text"`    // in full what would be let through, values quoted
	Matched int    `json:"matched"` // past calls it would have let through
	Past    int    `json:"past"`    // past calls of the tool that were looked at
}

// Rule is a remembered approval in force. It ends with its session.
type Rule struct {
	Number    int       `json:"number"` // from 1, never reused
	Session   SessionID `json:"session"`
	Tab       int       `json:"tab"`
	Scope     string    `json:"scope"`
	Text      string    `json:"text"` // in full what it lets through, values quoted
	By        string    `json:"by"`   // "tui", "cli"
	At        time.Time `json:"at"`
	ExpiresAt time.Time `json:"expiresAt"`
	Used      int       `json:"used"` // calls it has let through
}

// Decided is one decision as the audit has it.
type Decided struct {
	At        time.Time       `json:"at"`
	Session   SessionID       `json:"session"`
	Tab       int             `json:"tab"`
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // canonical, secrets masked
	Decision  string          `json:"decision"`            // "escalated-approved", "granted" and so on
	By        string          `json:"by,omitempty"`
	Waited    time.Duration   `json:"waited,omitempty"`
	Rule      string          `json:"rule,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Detail    map[string]any  `json:"detail,omitempty"` // what it rests on: a rule, a receipt
}

// Outcome is how an escalation ended.
type Outcome string

// The outcomes of an escalation.
const (
	Approved  Outcome = "approved"
	Denied    Outcome = "denied"
	Expired   Outcome = "expired"
	Withdrawn Outcome = "withdrawn" // the agent canceled the call or its session ended
)

// Resolution is the one answer an escalation got.
type Resolution struct {
	ID      string    `json:"id"`
	Number  int       `json:"number"`
	Session SessionID `json:"session"`
	Outcome Outcome   `json:"outcome"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Won     bool      `json:"won"` // whether this very call decided it
	// Rule is the number of the rule that this decision made, or 0.
	Rule int `json:"rule,omitempty"`
	// Kept says that no caller waited for the answer: it stands for five minutes,
	// for the same call once.
	Kept bool `json:"kept,omitempty"`
}

// TrustedInput is text a person entered in command mode.
type TrustedInput struct {
	Session SessionID `json:"session"`
	Text    string    `json:"text"`
	Spans   []Span    `json:"spans"` // which parts were typed and which pasted, in order
}

// Span is a run of bytes of a text that came in one way.
type Span struct {
	Start  int  `json:"start"`
	End    int  `json:"end"`
	Pasted bool `json:"pasted"`
}

// Receipt is the record of one trusted input. Until it ends, at the next input
// of the session or when nothing is left, it may stand for the person's consent
// to calls that it names.
type Receipt struct {
	Number    int       `json:"number"` // from 1 in its session
	Session   SessionID `json:"session"`
	Quote     string    `json:"quote"` // the typed text on one line
	At        time.Time `json:"at"`
	ExpiresAt time.Time `json:"expiresAt"`
	Left      int       `json:"left"` // automatic approvals it is still good for
	// Typing is what to write to the agent's terminal, in order, waiting
	// Pause before each step but the first: agents take text and Enter in one
	// burst for a paste.
	Typing []string      `json:"typing,omitempty"`
	Pause  time.Duration `json:"pause,omitempty"`
}

// EventKind says which member of an Event is set.
type EventKind string

// The kinds of events.
const (
	EventSession    EventKind = "session"    // a session appeared or changed: Session
	EventProgress   EventKind = "progress"   // a step of starting a session: Progress
	EventEscalation EventKind = "escalation" // a call began to wait, or more like it came: Escalation
	EventResolution EventKind = "resolution" // a call stopped waiting: Resolution
	EventReceipt    EventKind = "receipt"    // a receipt came, was spent or ended: Receipt, without Typing
	// EventAutoApproval is a call that was let through because a receipt ordered
	// it: AutoApproval. Its escalation may never have been told of.
	EventAutoApproval EventKind = "auto-approval"

	EventBudget EventKind = "budget" // what a session has used or may use changed: Budget
	EventNotice EventKind = "notice" // something a person should read: Notice
)

// Event is one change in the broker.
type Event struct {
	Kind         EventKind     `json:"kind"`
	At           time.Time     `json:"at"`
	Session      *Session      `json:"session,omitempty"`
	Progress     *Progress     `json:"progress,omitempty"`
	Escalation   *Escalation   `json:"escalation,omitempty"`
	Resolution   *Resolution   `json:"resolution,omitempty"`
	Receipt      *Receipt      `json:"receipt,omitempty"`
	Budget       *Budget       `json:"budget,omitempty"`
	AutoApproval *AutoApproval `json:"autoApproval,omitempty"`
	Notice       *Notice       `json:"notice,omitempty"`
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

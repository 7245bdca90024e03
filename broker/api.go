package broker

import "context"

// API is everything a user interface can ask of the broker. Implementations
// are safe for concurrent use. Errors are one line: operation, cause, and, by a
// Hint() string method, what to do next.
type API interface {
	Calls
	// Attach connects to the terminal of a session's agent. It waits until the
	// agent runs or the context ends. A session has at most one attachment at a
	// time.
	Attach(ctx context.Context, id SessionID) (Terminal, error)
	// Submit records text that a person typed into the multiplexer itself and
	// returns its receipt together with the bytes to type into the agent.
	Submit(ctx context.Context, in TrustedInput) (Receipt, error)
}

// Calls are the methods that other processes may call, too. The methods that only API has never
// leave the broker's process: the stream of an agent's terminal, and what a person has typed.
type Calls interface {
	// Agents lists the agents a session can be opened with.
	Agents(ctx context.Context) ([]Agent, error)
	// Open creates a session and begins to start its agent. It returns as soon
	// as the session has an identity; what happens next arrives as events.
	Open(ctx context.Context, r OpenRequest) (Session, error)
	// Close ends a session: its agent, its container and its sockets. It also
	// ends one that was left running when its multiplexer was killed.
	Close(ctx context.Context, id SessionID) error
	// Rename gives a session's tab a name, in all views and when it is resumed; empty: none.
	Rename(ctx context.Context, id SessionID, name string) error
	// Move puts a session's tab at a place in the bar, from 1, in all views.
	Move(ctx context.Context, id SessionID, place int) error
	// Sessions lists the open sessions in the order of the bar.
	Sessions(ctx context.Context) ([]Session, error)
	// Stored lists the sessions on disk, those used last first; each can be
	// resumed by Open unless it is owned.
	Stored(ctx context.Context) ([]StoredSession, error)
	// Changes shows what has changed in a session's workspace since its start.
	Changes(ctx context.Context, id SessionID) (Changes, error)
	// Landing compares a session's copy of the person's directory with that directory. Land
	// writes what was shown into it, named by Landing.ID, and says what was done. Only a person
	// may ask for it.
	Landing(ctx context.Context, id SessionID, which Which) (Landing, error)
	Land(ctx context.Context, id SessionID, landing string) (Landed, error)
	// StartLog returns the log of a session's start so far.
	StartLog(ctx context.Context, id SessionID) (StartLog, error)
	// Pending lists what waits for a person, oldest first.
	Pending(ctx context.Context) ([]Escalation, error)
	// Decide answers one escalation. The first answer wins; a later one returns
	// the resolution of the first, with Won false.
	Decide(ctx context.Context, d Decision) (Resolution, error)
	// Scopes lists what an approval of a waiting call could be remembered for,
	// the narrowest first, each with how many past calls it would have let
	// through. It reads audit logs and takes up to a few seconds. No scopes
	// means that the call cannot be remembered.
	Scopes(ctx context.Context, id string) ([]Scope, error)
	// Grants lists the grants in force, oldest first.
	Grants(ctx context.Context) ([]Grant, error)
	// Revoke ends a grant.
	Revoke(ctx context.Context, r Revocation) (Grant, error)
	// History lists the latest decisions of the open sessions, newest first,
	// at most limit of them.
	History(ctx context.Context, limit int) ([]Decided, error)
	// AutoApprovals lists the calls of a session that were let through
	// because a receipt ordered them, oldest first, at most the last fifty.
	AutoApprovals(ctx context.Context, id SessionID) ([]AutoApproval, error)
	// Forget drops what is left of a session's receipt. It fails when the session
	// has no receipt.
	Forget(ctx context.Context, id SessionID) error
	// Budgets returns what the open sessions have used of their models and what
	// they may use.
	Budgets(ctx context.Context) (Budgets, error)
	// RaiseBudget lets a session use more: "+5" of US dollars, "+200k tokens",
	// "+50 requests", "+30m".
	RaiseBudget(ctx context.Context, id SessionID, by string) (Budget, error)
	// ReviewPolicy reads the policy again and says what would change. It changes nothing.
	ReviewPolicy(ctx context.Context) (PolicyReview, error)
	// ApplyPolicy puts the policy that was reviewed last, named by its hash, in force for
	// all sessions without a profile, or for none if it fails for one. It returns how many
	// there are.
	ApplyPolicy(ctx context.Context, hash string) (int, error)
	// Reload reads the configuration again. Sessions and views that open from then on have it;
	// those that are open keep theirs. After an error nothing has changed.
	Reload(ctx context.Context) error
	// Servers returns the state of a session's tool servers; none while they are not
	// started.
	Servers(ctx context.Context, id SessionID) ([]ServerStatus, error)
	// TurnServer ends a tool server of a session, if it runs. It starts it again, unless the
	// server is to be off: then its tools are offered no more. Calls that it works on fail.
	TurnServer(ctx context.Context, id SessionID, name string, off bool) error
	// AddServer adds a tool server to config.json: a command with its arguments, or the URL of
	// a server. It starts in this session and in those that open from now on.
	AddServer(ctx context.Context, id SessionID, name string, words []string) error
	// Registries returns the package registries of a session, and what its agent got, did not
	// see and was refused.
	Registries(ctx context.Context, id SessionID) (Registries, error)
	// ReleasePackage forgets that the person has denied a version of a package, named as in
	// Registries.Denied. The agent's next request for it is a new question.
	ReleasePackage(ctx context.Context, id SessionID, version string) error
	// AnswerOffer answers a notice that offers toolchains for a session's workspace. The
	// images of sessions that start from now on contain what was accepted.
	AnswerOffer(ctx context.Context, id SessionID, yes bool) error
	// OpenPort lets programs of this machine connect to a port of a session's container, or,
	// if Port.Out is set, programs in the container to a port of this machine,
	// until ClosePort, which takes the container's port, or the end of the session. Only a
	// person may ask for it.
	OpenPort(ctx context.Context, id SessionID, p Port) error
	ClosePort(ctx context.Context, id SessionID, container int) error
	// AttachFiles copies files of the host, by their absolute paths, to where the session's
	// agent can read them, or the picture in the host's clipboard if there are no paths. It
	// returns the paths of the copies in the container. If one fails, none is left.
	AttachFiles(ctx context.Context, id SessionID, paths []string) ([]string, error)
	// SaveFile copies a file of the agent's home or workspace to the host and returns its path
	// there.
	SaveFile(ctx context.Context, id SessionID, r SaveRequest) (string, error)
	// Subscribe streams events from now on, and drops none: at most 256 events
	// wait for a slow reader, then the channel is closed. The reader must then
	// subscribe again and list everything anew. The channel also closes when ctx
	// ends.
	Subscribe(ctx context.Context) (<-chan Event, error)
}

// Agent is one kind of agent that a session can run.
type Agent struct {
	Name  string `json:"name"`  // as in --agent: "claude-code"
	Title string `json:"title"` // for people: "Claude Code"
}

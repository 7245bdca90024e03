// Package agent knows the kinds of agents a session can run: which image
// holds them, which files and variables they want before their first byte, how
// they are told about the tools of the host, and how text is typed into them so
// that they take it for typing. An adapter is data and a few small functions;
// it starts nothing itself.
package agent

// The places of a session inside its container.
const (
	Workspace   = "/workspace"       // the directory the agent works in, writable
	Home        = "/home/codespace"  // the agent's own home, writable, kept for resuming
	Orientation = "/etc/ironcurtain" // what the agent is told, read-only
	Sockets     = "/run/ironcurtain" // the host's sockets, read-only
	ToolSocket  = Sockets + "/proxy.sock"
	ProxySocket = Sockets + "/mitm-proxy.sock"
	PortsSocket = Sockets + "/ports.sock"
	// ReportSocket is where the bridge says what it sees before the agent begins.
	ReportSocket = Sockets + "/report.sock"
	// KeptSockets is where the bridge listens itself where the host's sockets are not mounted: a
	// directory in memory in which every engine lets every user write. CarrierSocket is where it takes
	// the carriers of the stream.
	KeptSockets   = "/dev/shm/ironcurtain"
	CarrierSocket = KeptSockets + "/carrier.sock"
	Attachments   = "/attachments" // what the person has attached, read-only
	Objects       = "/objects"     // git's objects of a repository, in a container that is only to be filled with them
	CABundle      = "/etc/ssl/certs/ca-certificates.crt"
	// ProxyAddress is where the agent finds its proxy.
	ProxyAddress = "127.0.0.1:18080"
	ProxyURL     = "http://" + ProxyAddress
	// Bridge is our program in the container: its main process until it becomes
	// the agent, and the carrier of everything to the sockets.
	Bridge = "/usr/local/bin/ironcurtain-mux-bridge"
)

// Host is what a session offers to the agent in it.
type Host struct {
	Sentinels    map[string]string // provider to the fake credential that stands for the real one; only what can be used
	Logins       map[string]string // providers whose sentinel stands for a login's token and not for an API key, and the name of the account
	Conversation string            // UUID of the agent's conversation
	Resume       bool              // continue that conversation instead of beginning it
	Prompt       string            // system prompt: where the agent is and what it may do
	Model        string            // the model to use, as the agent calls it; empty: the adapter's choice
	Root         bool              // the agent's user has the number 0 in its container; outside that is an ordinary one
	First        string            // what the person asks first; empty: the agent waits to be asked
}

// Launch is how to start an agent.
type Launch struct {
	Argv  []string
	Env   []string // NAME=value, besides what every session gets
	Files []File
}

// Answer is the result of a one-shot run.
type Answer struct {
	Text    string  // the agent's last words, or what it has printed before it failed
	Failure string  // why it failed, in one line; empty when it answered
	CostUSD float64 // as the agent reckons it; 0 when it does not say
	Events  string  // JSON: what happened meanwhile, in the agent's own words; empty when it does not say
}

// Place is where an agent runs.
type Place string

// The places.
const (
	InContainer Place = ""        // in a container
	InProcess   Place = "process" // in a locked process of this machine, which can open nothing; it has no Image and no Launch
	OnHost      Place = "host"    // on this machine itself, unprotected; it has no Image and no Launch
)

// Adapter describes one kind of agent.
type Adapter struct {
	Name  string // as a person types it: "claude-code"
	Title string // as a person reads it: "Claude Code"
	Image string // name of its image in package docker or, with Foreign set, a reference
	// Foreign means that the image is somebody else's. It is used unchanged and never
	// built.
	Foreign bool
	// Providers are the model providers it can talk to, by their names in package
	// mitm, the preferred one first. One of them is enough; none means that it
	// talks to no model.
	Providers []string
	KeysOnly  bool // it takes API keys and no logins
	Tools     bool // it connects to the host's tools before it is of use
	Place     Place
	// JobControl means that the agent stops and continues programs itself, as shells do.
	// Other agents would stop themselves at Ctrl-Z and wait for a shell, which the
	// container does not have, so they never get that key.
	JobControl bool

	// Launch starts it on a terminal.
	Launch func(Host) (Launch, error)
	// Once runs it for one task, without terminal and input: the answer is on its
	// standard output. Only the command depends on the task, so that a container
	// that was made for one serves all later ones. Nil: it cannot.
	Once func(h Host, task string) (Launch, error)
	// Answer reads what a one-shot run printed and how it ended. Nil: all that it prints is its
	// answer.
	Answer func(stdout string, exitCode int) Answer
	// Kept says whether a home holds the conversation, so that Host.Resume can
	// continue it. Nil: the agent continues nothing.
	Kept func(home HomeDir, conversation string) bool
	// LastPrompt is what the person asked last, as a home that belongs to the
	// conversation tells it; empty when it does not. Nil: the agent keeps nothing
	// of that kind.
	LastPrompt func(home HomeDir, conversation string) string
	// Submit is how text is typed into it and sent off.
	Submit func(text string) Submission
	// Version is the command that prints its version; empty: it has none.
	Version []string
}

// TakesTasks reports whether it can be run for one task.
func (a Adapter) TakesTasks() bool { return a.Once != nil || a.Place == InProcess }

// provider picks the provider to use: the first that the host has a sentinel for.
func (a Adapter) provider(h Host) (name, sentinel string, err error) {
	for _, name := range a.Providers {
		if s := h.Sentinels[name]; s != "" {
			return name, s, nil
		}
	}
	return "", "", &NoSentinelError{Agent: a.Name, Providers: a.Providers}
}

// Package agent describes the kinds of agents that a session can run: their image,
// the files and variables that they need before they start, how they learn about the
// tools of the host, and how text is typed into them so that they accept it as typed.
// An adapter is data and a few small functions; it starts nothing itself.
package agent

// The places of a session inside its container.
const (
	Workspace   = "/workspace"       // the directory the agent works in, writable
	Home        = "/home/codespace"  // the agent's own home, writable, kept for resuming
	Orientation = "/etc/ironcurtain" // instructions and configuration for the agent, read-only
	Sockets     = "/run/ironcurtain" // the host's sockets, read-only
	ToolSocket  = Sockets + "/proxy.sock"
	ProxySocket = Sockets + "/mitm-proxy.sock"
	PortsSocket = Sockets + "/ports.sock"
	// ReportSocket is where the bridge sends its report before the agent starts.
	ReportSocket = Sockets + "/report.sock"
	// KeptSockets is the directory of the bridge's own sockets, if the host's are not mounted. It
	// is in memory, and every user may write there with every engine. At CarrierSocket the bridge
	// accepts the carriers of the stream.
	KeptSockets   = "/dev/shm/ironcurtain"
	CarrierSocket = KeptSockets + "/carrier.sock"
	Attachments   = "/attachments" // files that the person has attached, read-only
	Objects       = "/objects"     // a repository's git objects, in the container that fills their volume
	CABundle      = "/etc/ssl/certs/ca-certificates.crt"
	// ProxyAddress is where the agent's HTTP proxy listens.
	ProxyAddress = "127.0.0.1:18080"
	ProxyURL     = "http://" + ProxyAddress
	// Bridge is our program in the container. It is the main process until it becomes the
	// agent, and it connects the agent with the sockets.
	Bridge = "/usr/local/bin/ironcurtain-mux-bridge"
)

// Host is what a session offers to its agent.
type Host struct {
	Sentinels    map[string]string   // sentinels by provider; only of providers that can be used
	KeyVariables map[string][]string // variables in which programs look for a provider's API key, by provider
	Logins       map[string]string   // account names by provider, for sentinels that stand for a login's token and not for an API key
	Conversation string              // UUID of the agent's conversation
	Resume       bool                // continue that conversation instead of starting it
	Prompt       string              // system prompt: where the agent is and what it may do
	Model        string              // the model to use, as the agent names it; empty: the adapter's choice
	Root         bool                // the agent's user has ID 0 in its container, but is an ordinary user outside
}

// Launch is how to start an agent.
type Launch struct {
	Argv  []string
	Env   []string // NAME=value, besides what every session gets
	Files []File
}

// Answer is the result of a one-shot run.
type Answer struct {
	Text    string // the agent's answer, or what it printed before it failed
	Failure string // why it failed, in one line; empty after an answer
	Events  string // JSON: what happened meanwhile, as the agent reports it; empty if it does not
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
	// Providers are the model providers that the agent can use, by their names in package
	// mitm, the preferred one first. One of them is enough; none means that the agent
	// uses no model.
	Providers []string
	KeysOnly  bool // the agent accepts API keys and no logins
	Tools     bool // the agent connects to the host's tools before it is ready
	Place     Place
	// JobControl means that the agent stops and continues programs itself, as shells do.
	// Other agents would stop themselves at Ctrl-Z and wait for a shell, which the
	// container does not have, so they never get that key.
	JobControl bool

	// Launch starts the agent on a terminal.
	Launch func(Host) (Launch, error)
	// Once runs the agent for one task, without terminal and input; it prints its answer
	// to standard output. Only the command depends on the task, so that one container
	// serves several tasks. Nil: the agent cannot do that.
	Once func(h Host, task string) (Launch, error)
	// Answer reads the output and exit code of a one-shot run. Nil: the whole output is the
	// answer.
	Answer func(stdout string, exitCode int) Answer
	// Kept reports whether a home contains the conversation, so that Host.Resume can
	// continue it. Nil: the agent cannot continue a conversation.
	Kept func(home HomeDir, conversation string) bool
	// LastPrompt returns the person's last prompt of the conversation, read from the
	// home; empty if it is not there. Nil: the agent does not keep prompts.
	LastPrompt func(home HomeDir, conversation string) string
	// Submit returns how text is typed into the agent and sent.
	Submit func(text string) Submission
}

// keyVariables returns the environment in which a program finds a provider's sentinel.
func (h Host) keyVariables(provider, sentinel string) []string {
	var env []string
	for _, name := range h.KeyVariables[provider] {
		env = append(env, name+"="+sentinel)
	}
	return env
}

// TakesTasks reports whether the agent can be run for one task.
func (a Adapter) TakesTasks() bool { return a.Once != nil || a.Place == InProcess }

// provider returns the first provider that the host has a sentinel for.
func (a Adapter) provider(h Host) (name, sentinel string, err error) {
	for _, name := range a.Providers {
		if s := h.Sentinels[name]; s != "" {
			return name, s, nil
		}
	}
	return "", "", &NoSentinelError{Agent: a.Name, Providers: a.Providers}
}

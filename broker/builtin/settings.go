package builtin

// Command is the argument that makes the program the agent. File descriptor 3 is then its desk, 4 the
// connection to its tools, and 5 the file of its conversation.
const Command = "builtin"

// Settings are what the host sends to the agent's process first.
type Settings struct {
	CA      string         // PEM: the only certificate authority that the process trusts
	Models  map[string]Way // the providers that it can reach, by name
	Model   string         // provider and model, "anthropic/claude-sonnet-4-6"
	NoColor bool
	Task    string // a task without a terminal; empty: the agent runs on a terminal
}

// Way says how to use a provider.
type Way struct {
	Key   string // the sentinel
	Model string // the default model
}

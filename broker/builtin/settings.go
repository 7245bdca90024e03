package builtin

// Command is the argument with which the program is the agent. It finds its desk at descriptor
// 3, the connection to its tools at 4 and the file of its conversation at 5.
const Command = "builtin"

// Settings are what the host tells the agent's process first.
type Settings struct {
	CA      string         // PEM: the only authority that it trusts
	Models  map[string]Way // the providers that it can reach, by name
	Model   string         // provider and model, "anthropic/claude-sonnet-4-6"
	NoColor bool
	Task    string // what is to be done, without a terminal; empty: it runs on one
}

// Way is how a provider is asked.
type Way struct {
	Key   string // stands for the real one
	Model string // unless another one is named
}

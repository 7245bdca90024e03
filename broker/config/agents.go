package config

import "encoding/json"

// Agent describes an agent of the person's own: an image and a command that speaks MCP over
// standard input and output. Package agent says what its placeholders in braces stand for.
type Agent struct {
	Title     string            `json:"title,omitempty"`
	Image     string            `json:"image"`
	Command   []string          `json:"command"`
	Resume    []string          `json:"resume,omitempty"`
	Task      []string          `json:"task,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	Files     map[string]string `json:"files,omitempty"`
	Providers []string          `json:"providers,omitempty"`
	Tools     bool              `json:"tools,omitempty"`
	Submit    Submit            `json:"submit,omitzero"`
	// Policy is the directory of a policy that narrows the multiplexer's, and CodeMode how
	// the agent's programs call tools: "off", "beside" or "only". An agent with nothing else
	// is a built-in one.
	Policy   string `json:"policy,omitempty"`
	CodeMode string `json:"codeMode,omitempty"`
}

// Secret says where a secret is: in what a command prints, in an environment variable or
// in a file. Exactly one of these is set.
type Secret struct {
	Command []string `json:"command,omitempty"`
	Env     string   `json:"env,omitempty"`
	File    string   `json:"file,omitempty"`
}

// Key says where the API key of an agent is.
type Key struct {
	Provider string `json:"provider,omitempty"` // whose key it is; empty: the agent's first provider
	Secret
}

// GH names the GitHub server whose API agents may use, and where the token for it is.
type GH struct {
	Host  string `json:"host"`
	Token Secret `json:"token"`
}

// UnmarshalJSON reads what the schema has let through.
func (g *GH) UnmarshalJSON(data []byte) error {
	type plain GH
	p := plain{Host: "github.com"}
	err := json.Unmarshal(data, &p)
	*g = GH(p)
	return err
}

// Submit is how text is typed into an agent.
type Submit struct {
	Paste       bool `json:"paste,omitempty"`
	PauseMillis int  `json:"pauseMillis,omitempty"`
}

// Images is what the agents' images are made of.
type Images struct {
	Base     string   `json:"base"`               // an image of a registry
	From     string   `json:"from"`               // where the root file system comes from: "auto", "registry" or "mmdebstrap"
	Tools    []string `json:"tools"`              // what projects are built with, by name
	Packages []string `json:"packages,omitempty"` // more Debian packages
}

// Package agent knows the kinds of agents a session can run: which image
// holds them, which files and variables they want before their first byte, how
// they are told about the tools of the host, and how text is typed into them so
// that they take it for typing. An adapter is data and a few small functions;
// it starts nothing itself.
package agent

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// The places of a session inside its container.
const (
	Workspace   = "/workspace"       // the directory the agent works in, writable
	Home        = "/home/codespace"  // the agent's own home, writable, kept for resuming
	Orientation = "/etc/ironcurtain" // what the agent is told, read-only
	Sockets     = "/run/ironcurtain" // the two sockets, read-only
	ToolSocket  = Sockets + "/proxy.sock"
	ProxySocket = Sockets + "/mitm-proxy.sock"
	CABundle    = "/etc/ssl/certs/ca-certificates.crt"
	ProxyURL    = "http://127.0.0.1:18080"
)

// Host is what a session offers to the agent in it.
type Host struct {
	Sentinels    map[string]string // provider to the fake key that stands for the real one
	Conversation string            // UUID of the agent's conversation
	Resume       bool              // continue that conversation instead of beginning it
	Prompt       string            // system prompt: where the agent is and what it may do
}

// File is one file that must exist before the agent starts.
type File struct {
	Path string // below the agent's home or, with Orientation set, below /etc/ironcurtain
	Data []byte
	Mode uint32 // permission bits
	// Orientation puts the file into the read-only directory.
	Orientation bool
}

// Launch is how to start an agent.
type Launch struct {
	Argv  []string
	Env   []string // NAME=value, besides what every session gets
	Files []File
}

// Submission is text as an agent wants it typed: the steps in order, with a
// pause between them.
type Submission struct {
	Steps []string
	Pause time.Duration
}

// Adapter describes one kind of agent.
type Adapter struct {
	Name      string   // as a person types it: "claude-code"
	Title     string   // as a person reads it: "Claude Code"
	Image     string   // name of its image in package docker
	Providers []string // model providers it talks to, by their names in package mitm
	Tools     bool     // it connects to the host's tools before it is of use
	Host      bool     // it runs on this machine itself, unprotected; it has no Image and no Launch
	Launch    func(Host) (Launch, error)
	Submit    func(text string) Submission
}

// All returns every adapter, ordered by name.
func All() []Adapter {
	all := []Adapter{claudeCode(), localShell(), shell()}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// UnknownError says that no agent has the name that was asked for.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string { return fmt.Sprintf("no agent is called %q", e.Name) }

// Hint lists the agents there are.
func (e *UnknownError) Hint() string {
	var names []string
	for _, a := range All() {
		names = append(names, a.Name)
	}
	return "agents: " + strings.Join(names, ", ")
}

// Named returns the adapter of that name.
func Named(name string) (Adapter, error) {
	for _, a := range All() {
		if a.Name == name {
			return a, nil
		}
	}
	return Adapter{}, &UnknownError{Name: name}
}

// Environment lists the variables every agent gets: its proxy, its only root
// certificate, and a terminal that promises no more than the engine keeps.
func Environment() []string {
	env := []string{
		"HOME=" + Home,
		"USER=codespace",
		"SHELL=/bin/bash",
		"LANG=C.UTF-8",
		"TERM=xterm-256color",
		"COLORTERM=truecolor",
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"NO_PROXY=localhost,127.0.0.1,::1",
		"no_proxy=localhost,127.0.0.1,::1",
	}
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"} {
		env = append(env, name+"="+ProxyURL)
	}
	for _, name := range []string{
		"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
		"REQUESTS_CA_BUNDLE", "PIP_CERT", "AWS_CA_BUNDLE", "CARGO_HTTP_CAINFO", "DENO_CERT",
		"CODEX_CA_CERTIFICATE",
	} {
		env = append(env, name+"="+CABundle)
	}
	return env
}

// bracketed wraps text of several lines as a paste, which is how a terminal
// would hand it over; single lines are typed as they are. Control characters
// other than newline and tab are left out: they would be keys.
func bracketed(text string) string {
	clean := strings.Map(func(r rune) rune {
		if (r < 0x20 && r != '\n' && r != '\t') || r == 0x7f || (r >= 0x80 && r < 0xa0) {
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
	if !strings.Contains(clean, "\n") {
		return clean
	}
	return "\x1b[200~" + clean + "\x1b[201~"
}

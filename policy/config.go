package policy

import (
	_ "embed"
	"fmt"
)

// Config is everything an engine judges by.
type Config struct {
	Policy      *Compiled
	Annotations *Annotations
	Lists       *Lists // nil: every dynamic list is empty

	// Narrowings are policies that judge every call, too. The most severe verdict counts.
	Narrowings []Narrowing

	Sandbox string // the session's directory on the host
	Mount   string // where the agent sees it, "/workspace"; empty: under its host path
	Home    string // the person's home directory; empty: "~" is denied

	// Protected are files and directories that no call may touch, even if they do not
	// exist yet. If a protected directory contains the sandbox, the sandbox stays open.
	// Protected entries inside the sandbox stay protected.
	Protected []string
	// Unprotected are directories inside protected ones that calls may touch.
	Unprotected []string
	// AgentDirs are patterns for filepath.Match. They match resolved directories that lie
	// inside protected ones and that agents write to. Each of these is a mount of its own,
	// so an agent cannot make a hard link from it to a place outside. Therefore they are
	// not searched for hard links.
	AgentDirs []string

	// DomainAllow lists, per server, the hosts that its sandbox lets it reach. A call with
	// a URL on any other host escalates. A server that is not listed is not limited.
	DomainAllow map[string][]string

	// Asking are the servers whose tools may be called before they are annotated. A person
	// decides each call of such a tool, and each call that no rule covers. Unannotated tools
	// of other servers are denied.
	Asking []string

	// Traits are the special properties of servers, by name; nil means DefaultTraits.
	Traits map[string]Traits

	// GitFixed are variables of git's configuration, such as "core.hooksPath", that the
	// git server sets in its environment. They override the repository's configuration,
	// so programs that a repository names there never run. A call escalates when its
	// repository configures other programs.
	GitFixed []string

	// Attached are repositories outside the sandbox that the host itself gave to the
	// session, such as the repository that the session's worktree was made of. Git tools
	// may use their directories as if they lay inside the sandbox; other tools may not.
	Attached []string

	// SystemGit is the system-wide git configuration; empty means
	// /etc/gitconfig.
	SystemGit string

	// MaxCall bounds the arguments of a call in bytes; 0 means 4 MiB.
	MaxCall int
}

// Traits are properties of a server that the judgment depends on.
type Traits struct {
	SandboxFiles bool // the server's file operations are free inside the sandbox
	Git          bool // its paths are repositories and its references are git's
	Fetch        bool // it sends requests whose headers the call chooses
}

// DefaultTraits are the traits of the servers that the product ships.
func DefaultTraits() map[string]Traits {
	return map[string]Traits{
		"filesystem": {SandboxFiles: true},
		"git":        {SandboxFiles: true, Git: true},
		"fetch":      {Fetch: true},
	}
}

//go:embed default/compiled-policy.json
var defaultPolicy []byte

//go:embed default/tool-annotations.json
var defaultAnnotations []byte

// Default returns the policy and the annotations that the product ships. They cover the
// filesystem, git and fetch servers: work inside the workspace is allowed; a person is
// asked about everything outside the workspace and everything over the network.
func Default() (*Compiled, *Annotations) {
	c, err := ParseCompiled("default/compiled-policy.json", defaultPolicy)
	if err != nil {
		panic(fmt.Sprintf("policy: the embedded policy is broken: %v", err))
	}
	a, err := ParseAnnotations("default/tool-annotations.json", defaultAnnotations)
	if err != nil {
		panic(fmt.Sprintf("policy: the embedded annotations are broken: %v", err))
	}
	return c, a
}

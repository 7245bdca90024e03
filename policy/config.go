package policy

// Config is everything an engine judges by.
type Config struct {
	Policy      *Compiled
	Annotations *Annotations
	Lists       *Lists // nil: every dynamic list is empty

	Sandbox string // the session's directory on the host
	Mount   string // where the agent sees it, "/workspace"; empty: under its host path
	Home    string // the person's home directory; empty: "~" is denied

	// Protected are files and directories that no call may touch, also when
	// they do not exist yet. A protected directory that contains the sandbox
	// leaves the sandbox itself open; entries inside the sandbox stay closed.
	Protected []string
	// Unprotected are directories inside protected ones that are open.
	Unprotected []string
	// AgentDirs are patterns, as of filepath.Match, of resolved directories inside
	// protected ones that agents write. Each is mounted by itself, so that an agent can
	// give no file in it a name elsewhere; they are not searched for hard links.
	AgentDirs []string

	// DomainAllow lists, per server, the hosts its sandbox lets it reach. A
	// URL beyond them escalates. A server that is absent has no such gate.
	DomainAllow map[string][]string

	// Traits tell which servers have special properties; nil means
	// DefaultTraits.
	Traits map[string]Traits

	// GitFixed are the variables of git's configuration that the git server
	// sets in its environment, such as "core.hooksPath", so that what a
	// repository says of them has no effect. A call on a repository that
	// brings other programs of its own escalates.
	GitFixed []string

	// Attached are repositories outside the sandbox that the host itself gave
	// to the session, such as the one whose worktree the sandbox is. Git may
	// use their directories as if they lay inside; no other tool may.
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

// DefaultTraits are the traits of the servers that the product brings.
func DefaultTraits() map[string]Traits {
	return map[string]Traits{
		"filesystem": {SandboxFiles: true},
		"git":        {SandboxFiles: true, Git: true},
		"fetch":      {Fetch: true},
	}
}

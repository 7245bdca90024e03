package policy

import "encoding/json"

// Decision is what becomes of a call.
type Decision string

// The decisions, from the mildest to the most severe.
const (
	Allow    Decision = "allow"
	Escalate Decision = "escalate" // a person decides
	Deny     Decision = "deny"
)

// severity orders decisions; anything unknown is as severe as a denial.
func (d Decision) severity() int {
	switch d {
	case Allow:
		return 0
	case Escalate:
		return 1
	default:
		return 2
	}
}

// Call is one tool call as it came from the agent.
type Call struct {
	Server    string
	Tool      string
	Arguments json.RawMessage // as received; nil means no arguments
	// WorkDir is the directory the git server works in when a call names
	// none; empty means the sandbox.
	WorkDir string
}

// Verdict is the judgment of one call.
type Verdict struct {
	Decision Decision
	// Rule names what decided: "structural-sandbox-allow", "default-deny" or
	// the name of a compiled rule.
	Rule string
	// Reason is for people. It never contains text of the agent's that could
	// disturb a screen.
	Reason string
	// Arguments are the canonical arguments, exactly what may be forwarded.
	// They are nil on a denial.
	Arguments json.RawMessage
	// Trace tells how each value of each role was judged.
	Trace []Step
	// Roles are the roles that escalated.
	Roles []string
	// Values are what the call names, in the form in which it was judged; of
	// an escalation only.
	Values []Value
	// Prose names the arguments that carry text and nothing else, so that they
	// do not change what the call is done to or how; of an escalation only.
	Prose []string
	// Structural tells that a structural rule escalated, alone or with others;
	// no standing permission may answer such a call.
	Structural bool
	// Digest binds an approval to what was judged: server, tool, canonical
	// arguments and what they resolved to at that moment, such as the URLs
	// behind the name of a git remote. Empty on a denial.
	Digest string
	// Enters is the directory in which the git server works from then on, once it has
	// carried out the call; empty: the one before.
	Enters string
}

// Value is one thing that a call names.
type Value struct {
	Argument string
	Role     Role
	Text     string // canonical and raw: a resolved path, a URL, a name
	// Origin is scheme, host and port of an address, else empty.
	Origin string
	// Sandbox tells that a path lies inside the sandbox.
	Sandbox bool
}

// Step is the judgment of one value.
type Step struct {
	Argument string   `json:"argument"`
	Role     string   `json:"role"`
	Value    string   `json:"value"` // canonical, made safe to print
	Rule     string   `json:"rule"`
	Decision Decision `json:"decision"`
}

// Names of the structural rules and of the built-in verdicts.
const (
	RuleInvalidRequest   = "structural-invalid-request"
	RuleInvalidArguments = "invalid-arguments"
	RuleUnknownTool      = "structural-unknown-tool"
	RuleProtectedPath    = "structural-protected-path"
	RuleInvalidPath      = "structural-invalid-path"
	RuleInvalidURL       = "structural-invalid-url"
	RuleInvalidValue     = "structural-invalid-value"
	RuleGitOption        = "structural-git-option"
	RuleGitRemote        = "structural-git-remote"
	RuleGitRepository    = "structural-git-repository"
	RuleStrayValue       = "structural-stray-value"
	RuleHeaders          = "structural-http-header"
	RuleHostExecution    = "structural-host-execution"
	RuleDomain           = "structural-domain-escalate"
	RuleWithdrawn        = "withdrawn" // the call was taken back before it was judged
	RuleIntrospection    = "structural-introspection-allow"
	RuleSandbox          = "structural-sandbox-allow"
	RuleDefault          = "default-deny"
)

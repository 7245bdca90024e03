package policy

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// Decision says whether a call is carried out, is denied, or waits for a person.
type Decision string

// The decisions, from the mildest to the most severe.
const (
	Allow    Decision = "allow"
	Escalate Decision = "escalate" // a person decides
	Deny     Decision = "deny"
)

// severity orders decisions. An unknown decision is as severe as a denial.
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
	Arguments json.RawMessage // as received, or the canonical ones; nil: none
	// WorkDir is the directory that the git server works in if a call names none; empty
	// means the sandbox.
	WorkDir string
	// Signs says with which key the host signs the commit that the call makes. It is empty
	// if the call makes none, or one that is not signed.
	Signs string
	// Unsigned means that the person's git signs commits, but the host does not sign those
	// of this tool.
	Unsigned bool
	// Changed means that the tool has changed since it was annotated; see Engine.Changed. A
	// person decides the call, as for a tool that nobody has annotated.
	Changed bool
}

// Verdict is the judgment of one call.
type Verdict struct {
	Decision Decision
	// Rule is the name of the rule that decided: a compiled rule, or a structural or
	// built-in rule such as "structural-sandbox-allow" or "default-deny".
	Rule string
	// Reason is for people. The agent's text in it is sanitized, so it cannot disturb a
	// screen.
	Reason string
	// Arguments are the canonical arguments, the only ones that may be forwarded. They are
	// nil on a denial.
	Arguments json.RawMessage
	// Trace says how each value of each role was judged.
	Trace []Step
	// Roles are the roles that escalated.
	Roles []string
	// Values are what the call names, in canonical form. They are set only on an
	// escalation.
	Values []Value
	// Prose are the names of arguments that are only text, so that they do not change
	// what the call does or to what. It is set only on an escalation.
	Prose []string
	// Contacts says what git does at the remotes among Values. It is set only on an
	// escalation.
	Contacts Contact
	// Structural is true when a structural rule other than RuleSignedCommit and
	// RuleUnsignedCommit escalated, alone or with others. No grant may answer such a call.
	Structural bool
	// Digest binds an approval to what was judged: server, tool, canonical arguments and
	// what they resolved to at that moment, such as the URLs behind the name of a git
	// remote. It is empty on a denial.
	Digest string
	// Signs is Call.Signs, or empty on a denial and if the call makes no commit.
	Signs string
	// Enters is the working directory of the git server after it has carried out the
	// call; empty: the directory does not change.
	Enters string
}

// Contact is what a call of git does at remotes.
type Contact string

// The contacts. The empty one means that the call contacts no remote.
const (
	Fetches Contact = "fetch" // it gets objects and references from them
	Pushes  Contact = "push"  // it sends them
)

// Value is one thing that a call names.
type Value struct {
	Argument string
	Role     Role
	Text     string // canonical and not sanitized: a resolved path, a URL, a name
	// Origin is scheme, host and port of an address, otherwise empty.
	Origin string
	// Sandbox is true for a path inside the sandbox.
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
	RuleUnannotated      = "structural-unannotated-tool"
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
	RuleSignedCommit     = "structural-signed-commit"
	RuleUnsignedCommit   = "structural-unsigned-commit"
	RuleWithdrawn        = "withdrawn" // the call was withdrawn before it was judged
	RuleIntrospection    = "structural-introspection-allow"
	RuleSandbox          = "structural-sandbox-allow"
	RuleDefault          = "default-deny"
	RuleUndecided        = "default-ask" // as RuleDefault, for the servers in Config.Asking
)

// values returns what the call names: every element of a role that rules judge.
func (f *facts) values() []Value {
	var out []Value
	for i := range f.elements {
		el := &f.elements[i]
		if !el.role.Judged() {
			continue
		}
		v := Value{Argument: el.argument, Role: el.role, Text: el.text, Sandbox: el.path && el.sandbox}
		if el.target != nil {
			v.Origin = fmt.Sprintf("%s://%s:%d", el.target.Scheme, el.target.Host, el.target.Port)
		}
		out = append(out, v)
	}
	return out
}

// contacts returns what the call does at the remotes among its values.
func (f *facts) contacts(values []Value) Contact {
	named := slices.ContainsFunc(values, func(v Value) bool { return v.Role == GitRemote })
	switch {
	case !named || f.tool.can(configures):
		return ""
	case f.tool.can(pushes):
		return Pushes
	}
	return Fetches
}

// modeNames are arguments that choose what a tool does, even if their schema declares a
// plain string.
var modeNames = []string{
	"mode", "type", "action", "operation", "op", "command", "cmd", "method", "kind", "strategy", "format",
	"script", "code", "query", "sql", "shell", "args", "arguments", "options", "flags", "env",
}

// prose returns the arguments of the call that are only text. These have no role that is
// judged or checked, are no flag, number or enumeration, and have no name in modeNames.
func (f *facts) prose() []string {
	var out []string
	for _, m := range f.args.Members {
		arg, ok := f.tool.args[m.Name]
		if !ok || slices.Contains(modeNames, m.Name) || !f.tool.schema.Textual(m.Name) {
			continue
		}
		if m.Value.Kind != jsonx.String && m.Value.Kind != jsonx.Array {
			continue
		}
		roles := arg.resolve(f.args, f.tool.schema)
		if !slices.ContainsFunc(roles, func(r Role) bool { return r != CommitMessage && r != EmailBody }) {
			out = append(out, m.Name)
		}
	}
	return out
}

// maxShown bounds a value in a trace or reason, in bytes.
const maxShown = 4096

// sanitize makes a value fit to be shown in a trace or reason.
func sanitize(s string) string { return text.Readable(s, maxShown) }

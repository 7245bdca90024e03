package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/gitauth"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// signing is how the commit of a call gets the person's signature. The zero value is that
// of a call whose commit is not to be signed.
type signing struct {
	signer   gitauth.Signer
	kind     Commits
	process  *sandbox.Process // in which replacer works
	replacer *gitauth.Replacer
	failed   error // why the commit is not signed although the person's git signs commits
}

// signTime bounds the signing of a commit, with git's part in the sandbox.
const signTime = 30 * time.Second

// Commits says which commits a tool makes.
type Commits int

// The kinds of tools. The person's git may sign commits: then the host signs those that it
// can compare with what was approved.
const (
	NoCommits      Commits = iota
	StagedCommits          // one commit, of what is staged
	MergeCommit            // one commit of two others
	PickedCommits          // commits with the changes of others, on top of HEAD
	RebasedCommits         // commits with the changes of others, on top of another one
	OtherCommits           // others, which cannot be compared
)

// findSigner returns the key with which the host signs the commit that the call makes, or "".
// unsigned means that the person's git would sign the call's commits and the host does not.
func (c *call) findSigner(ctx context.Context) (key string, unsigned bool) {
	c.signing = signing{}
	if c.proxy.config.Commits == nil {
		return "", false
	}
	kind := c.proxy.config.Commits(c.target.server, c.target.tool)
	if kind == NoCommits {
		return "", false
	}
	signer, wanted, err := gitauth.FindSigner(ctx)
	_, compares := derivation(kind, c.arguments)
	switch {
	case kind != StagedCommits && (err != nil || wanted && !compares):
		return "", true
	case err != nil || !wanted:
		c.signing.failed = err
		return "", false
	}
	c.signing.signer, c.signing.kind = signer, kind
	return signer.String(), false
}

// prepareSigning notes what HEAD names before the call. spec is how the server that makes the
// commit is started. The caller calls the function that it returns when the call has ended.
func (c *call) prepareSigning(ctx context.Context, b *backend, spec sandbox.Spec) func() {
	if c.verdict.Signs == "" {
		return func() {}
	}
	spec.Name += "-sign"
	spec.Argv = gitauth.RepositoryArgv(c.commitArguments().Path)
	spec.Roots, spec.RootArgs, spec.Sandbox.Network = nil, false, servers.Network{}
	limited, cancel := context.WithTimeout(ctx, c.proxy.limits.Start)
	defer cancel()
	process, err := c.proxy.config.Sandbox.Start(limited, spec)
	if err != nil {
		c.signing.failed = err
		return func() {}
	}
	defer context.AfterFunc(limited, process.Stop)()
	c.signing.process = process
	c.signing.replacer, err = gitauth.NewReplacer(process.Stdin(), process.Stdout())
	if made, compares := derivation(c.signing.kind, c.verdict.Arguments); err == nil && compares {
		err = c.signing.replacer.Expect(made)
	}
	if err != nil {
		c.signing.failed = fmt.Errorf("%w%s", err, b.lastWords(process))
	}
	return process.Stop
}

// sign signs the commit that the call has made, and returns the result with its new id. If
// that fails, the commit stays as it is, and the agent, the person and the audit learn why.
func (c *call) sign(ctx context.Context, result json.RawMessage) json.RawMessage {
	if c.verdict.Signs == "" && c.signing.failed == nil {
		return result
	}
	err := c.signing.failed
	var all []gitauth.Replaced
	if err == nil {
		limited, cancel := context.WithTimeout(ctx, signTime)
		defer cancel()
		defer context.AfterFunc(limited, c.signing.process.Stop)()
		if c.signing.kind == StagedCommits {
			all, err = c.signing.replacer.Replace(limited, c.signing.signer, c.approvedCommit())
		} else {
			all, err = c.signing.replacer.ReplaceDerived(limited, c.signing.signer)
		}
	}
	if err != nil {
		why := "what was committed is not signed: " + err.Error()
		if next := fault.Hint(err); next != "" {
			why += "; " + next
		}
		c.ending.reason = c.proxy.redact.Load().Known(why)
		c.proxy.announce(Activity{Kind: CommitUnsigned, Server: c.target.server, Tool: c.target.tool, Detail: c.ending.reason})
		return withBlock(result, c.proxy.present("NOT SIGNED: "+why+". The person was told.", false))
	}
	if len(all) == 0 {
		return result // git made no commit
	}
	c.ending.reason = "signed:"
	var told []string
	for _, r := range all {
		c.ending.reason += " " + r.Unsigned + " became " + r.Signed
		result = bytes.ReplaceAll(result, []byte(r.Unsigned), []byte(r.Signed))
		told = append(told, r.Unsigned+" is "+r.Signed+" now")
	}
	return withBlock(result, "Signed on the host with the person's key, so ids have changed: "+strings.Join(told, ", ")+".")
}

// commitArguments are the arguments of a tool that makes a commit.
type commitArguments struct {
	Path    string `json:"path"`
	Message string `json:"message"`
	Amend   bool   `json:"amend"`
	Author  *struct {
		Name  string `json:"name"`
		Email string `json:"email"`
	} `json:"author"`
}

func (c *call) commitArguments() commitArguments {
	var a commitArguments
	_ = json.Unmarshal(c.verdict.Arguments, &a) // a missing value makes the commit differ from the approved one
	return a
}

// derivation returns how a call makes its commits from others, or false if the host cannot make the
// same from the others to compare them.
func derivation(kind Commits, arguments json.RawMessage) (d gitauth.Derivation, compares bool) {
	var a struct {
		Branch, Message, Strategy                         string
		Commits                                           []string
		ContinueOperation, Signoff, Preserve, Interactive bool
		Mainline                                          int
		Mode, Upstream, Onto                              string
	}
	if json.Unmarshal(arguments, &a) != nil || a.Strategy != "" && a.Strategy != "ort" {
		return d, false
	}
	switch kind {
	case MergeCommit:
		return gitauth.Derivation{Kind: gitauth.Merge, Sources: []string{a.Branch}, Message: a.Message}, a.Branch != ""
	case PickedCommits:
		d = gitauth.Derivation{Kind: gitauth.Pick, Sources: a.Commits, Signoff: a.Signoff, Mainline: a.Mainline}
		return d, len(a.Commits) > 0 && !a.ContinueOperation
	case RebasedCommits:
		d = gitauth.Derivation{Kind: gitauth.Rebase, Sources: []string{a.Upstream}}
		if a.Onto != "" {
			d.Sources = append(d.Sources, a.Onto)
		}
		whole := !a.Preserve && !a.Interactive && a.Branch == ""
		return d, a.Upstream != "" && whole && (a.Mode == "" || a.Mode == "start")
	default:
		return d, false
	}
}

// approvedCommit returns the commit that the call was to make.
func (c *call) approvedCommit() gitauth.ApprovedCommit {
	a := c.commitArguments()
	approved := gitauth.ApprovedCommit{Message: a.Message, Amend: a.Amend}
	if a.Author != nil {
		approved.Author = a.Author.Name + " <" + a.Author.Email + ">"
	}
	if c.effect != nil {
		approved.Head, approved.Tree, approved.Merges = c.effect.Head, c.effect.Tree, c.effect.Merges
	}
	return approved
}

// withBlock appends a text to the content of a result.
func withBlock(result json.RawMessage, text string) json.RawMessage {
	var all map[string]json.RawMessage
	var content []json.RawMessage
	if json.Unmarshal(result, &all) != nil || json.Unmarshal(all["content"], &content) != nil {
		return result
	}
	block, _ := json.Marshal(map[string]string{"type": "text", "text": text}) // strings never fail
	all["content"], _ = json.Marshal(append(content, block))
	out, err := json.Marshal(all)
	if err != nil {
		return result
	}
	return out
}

package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/gitauth"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/preview"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/sandbox"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/servers"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// login is how the person logs in at the remote of a call.
type login struct {
	call gitauth.Call
	web  gitauth.Credential
	ssh  gitauth.SSHLogin
}

// String says whose login it is, in words for a panel.
func (l *login) String() string {
	if l.call.Remote.Scheme == "ssh" {
		return l.ssh.String()
	}
	return l.web.String()
}

// open makes the gate through which a process logs in. No connection passes it yet.
func (l *login) open(ctx context.Context, dir string) (*gitauth.Gate, error) {
	if l.call.Remote.Scheme == "ssh" {
		return gitauth.OpenSSH(ctx, dir, l.call, l.ssh)
	}
	return gitauth.OpenHTTPS(ctx, dir, l.call, l.web)
}

// outlet returns a gate as the way out of a sandbox. env is the environment of the server.
func outlet(g *gitauth.Gate, env map[string]string) *sandbox.Outlet {
	settings, err := strconv.Atoi(env["GIT_CONFIG_COUNT"])
	if err != nil {
		settings = 0
	}
	return &sandbox.Outlet{Socket: g.Socket(), Host: g.Host(), Allowed: g.Allowed(), Script: g.Exports(settings), Seen: g.Readable()}
}

// findLogin looks for the person's login at the remote of an escalated call. It returns nil
// if the call needs none, or does without: then the note says why. An error says why the
// call cannot take effect.
func (c *call) findLogin(ctx context.Context) (found *login, note string, err error) {
	b := c.proxy.backend(c.target.server)
	if c.verdict.Contacts == "" || b == nil || b.stages == nil {
		return nil, "", nil
	}
	remotes, err := remotesOf(c.verdict.Values)
	if err != nil || !slices.ContainsFunc(remotes, func(a gitx.Address) bool { return a.Scheme == "https" || a.Scheme == "ssh" }) {
		return nil, "", err
	}
	if err := c.proxy.room.showing.take(ctx, c.proxy.waits); err != nil {
		return nil, "", err
	}
	defer c.proxy.room.showing.give()
	remote := remotes[0]
	l := &login{call: gitauth.Call{Remote: remote, Push: c.verdict.Contacts == policy.Pushes}}
	switch {
	case len(remotes) > 1 && slices.ContainsFunc(remotes, func(a gitx.Address) bool { return a.Scheme == "ssh" }):
		return nil, "", errors.New("git would log in at several remotes; name one of them")
	case len(remotes) > 1:
		return nil, "without a login, because git would contact several remotes", nil
	case remote.Scheme == "ssh":
		if l.ssh, err = gitauth.FindSSH(ctx, remote); err != nil {
			return nil, "", err
		}
	default:
		if l.web, err = gitauth.Fill(ctx, remote); err != nil {
			return nil, fmt.Sprintf("without a login: %v", err), nil
		}
	}
	return l, "logs in as " + l.String(), nil
}

// remotesOf returns the remotes among the values of a call.
func remotesOf(values []policy.Value) ([]gitx.Address, error) {
	var all []gitx.Address
	for _, v := range values {
		if v.Role != policy.GitRemote || v.Origin == "" {
			continue
		}
		a, err := gitx.ParseAddress(v.Text)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(all, func(b gitx.Address) bool { return a.String() == b.String() }) {
			all = append(all, a)
		}
	}
	return all, nil
}

// noteLogin shows the person which login would be used.
func (c *call) noteLogin() {
	if c.effect != nil && c.loginNote != "" {
		c.effect.Lines = slices.Insert(c.effect.Lines, 0, preview.Line{Kind: preview.Note, Text: c.loginNote})
	}
}

// signing is how the commit of a call gets the person's signature. The zero value is that
// of a call whose commit is not to be signed.
type signing struct {
	signer   gitauth.Signer
	process  *sandbox.Process // in which replacer works
	replacer *gitauth.Replacer
	failed   error // why the commit is not signed although the person's git signs commits
}

// signTime bounds the signing of a commit, with git's part in the sandbox.
const signTime = 30 * time.Second

// Commits says which commits a tool makes.
type Commits int

// The kinds of tools. The person's git may sign commits: then the host signs those that are
// made of what is staged, because the person sees them before, and no others.
const (
	NoCommits     Commits = iota
	StagedCommits         // one commit, of what is staged
	OtherCommits          // commits made of others, as by a merge
)

// findSigner returns with which key the host signs the commit that the call makes, or "".
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
	switch {
	case kind == OtherCommits:
		return "", wanted || err != nil
	case err != nil || !wanted:
		c.signing.failed = err
		return "", false
	}
	c.signing.signer = signer
	return signer.String(), false
}

// prepareSigning notes what HEAD names before the call. spec is how the server that makes the
// commit is started. The caller calls the function that it returns when the call has ended.
func (c *call) prepareSigning(ctx context.Context, b *backend, spec sandbox.Spec) func() {
	if c.verdict.Signs == "" {
		return func() {}
	}
	spec.Name += "-sign"
	spec.Argv = gitauth.ReplacerArgv(c.commitArguments().Path)
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
	if c.signing.replacer, err = gitauth.NewReplacer(process.Stdin(), process.Stdout()); err != nil {
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
	var unsigned, signed string
	if err == nil {
		limited, cancel := context.WithTimeout(ctx, signTime)
		defer cancel()
		defer context.AfterFunc(limited, c.signing.process.Stop)()
		unsigned, signed, err = c.signing.replacer.Replace(limited, c.signing.signer, c.approvedCommit())
	}
	if err != nil {
		why := "the commit was made and is not signed: " + err.Error()
		if next := fault.Hint(err); next != "" {
			why += "; " + next
		}
		c.ending.reason = c.proxy.redact.Load().Known(why)
		c.proxy.announce(Activity{Kind: CommitUnsigned, Server: c.target.server, Tool: c.target.tool, Detail: c.ending.reason})
		return withBlock(result, c.proxy.present("NOT SIGNED: "+why+". The person was told.", false))
	}
	c.ending.reason = "signed: " + unsigned + " became " + signed
	result = bytes.ReplaceAll(result, []byte(unsigned), []byte(signed))
	return withBlock(result, "The commit was signed on the host with the person's key. Its id is "+signed+" now; it was "+unsigned+".")
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
	_ = json.Unmarshal(c.verdict.Arguments, &a) // what is missing is found to differ in the commit
	return a
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

package preview

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
)

// Previewer computes the effects of calls.
type Previewer struct {
	UserHome  string   // directory with the person's git configuration
	SystemGit string   // file of the system-wide git configuration; empty means /etc/gitconfig
	Known     []string // well-known hosts, to warn of look-alikes
	// Command returns the git command that a tool runs, or "".
	Command func(server, tool string) string
	brief   bool
}

// KnownHosts are well-known hosts, whose names others may imitate.
var KnownHosts = []string{
	"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "sr.ht", "raw.githubusercontent.com", "google.com", "googleapis.com",
	"microsoft.com", "apple.com", "amazon.com", "amazonaws.com", "cloudflare.com", "gitea.com", "ietf.org", "python.org", "golang.org",
	"nginx.org", "rust-lang.org", "docker.com", "debian.org", "ubuntu.com", "wikipedia.org", "stackoverflow.com", "openai.com",
	"anthropic.com", "paypal.com", "facebook.com", "slack.com", "dropbox.com",
}

// Effect computes what a judged call with canonical arguments would do. It returns nil if the arguments
// alone show that. It takes a few seconds at most. Facts that are not known become warnings.
func (p *Previewer) Effect(ctx context.Context, c policy.Call) *Effect { return p.effect(ctx, c) }

// Fingerprint returns the fingerprint of the present effect. It is much faster than Effect.
func (p *Previewer) Fingerprint(ctx context.Context, c policy.Call) string {
	brief := *p
	brief.brief = true
	if e := brief.effect(ctx, c); e != nil {
		return e.Fingerprint
	}
	return ""
}

func (p *Previewer) effect(ctx context.Context, c policy.Call) *Effect {
	var e *Effect
	switch c.Server {
	case "filesystem":
		e = p.fileEffect(c)
	case "git":
		e = p.gitEffect(ctx, c)
	case "proxy":
		e = p.domainEffect(c)
	}
	if e == nil {
		e = p.general(c)
	}
	return e
}

// command returns the git command that a call runs, or "".
func (p *Previewer) command(c policy.Call) string {
	if p.Command == nil {
		return ""
	}
	return p.Command(c.Server, c.Tool)
}

// home returns the directory with the user's own git configuration.
func (p *Previewer) home() gitx.Home {
	return gitx.Home{Dir: p.UserHome, System: cmp.Or(p.SystemGit, "/etc/gitconfig")}
}

// fileEffect returns the effect of a call to the filesystem server.
func (p *Previewer) fileEffect(c policy.Call) *Effect {
	var a struct {
		Path        string `json:"path"`
		Content     string `json:"content"`
		Edits       []edit `json:"edits"`
		DryRun      bool   `json:"dryRun"`
		Source      string `json:"source"`
		Destination string `json:"destination"`
	}
	if json.Unmarshal(c.Arguments, &a) != nil {
		return nil
	}
	switch c.Tool {
	case "write_file":
		return p.writeFile(a.Path, a.Content)
	case "edit_file":
		return p.editFile(a.Path, a.Edits, a.DryRun)
	case "move_file":
		return p.moveFile(a.Source, a.Destination)
	}
	if why := wrongKind(c.Tool, a.Path); why != "" {
		return &Effect{Fails: why}
	}
	return nil
}

// wrongKind returns why a tool of the filesystem server without an effect to show would fail for a path,
// or "".
func wrongKind(tool, path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	switch tool {
	case "read_file", "read_text_file", "read_media_file":
		if info.IsDir() {
			return path + " is a directory"
		}
	case "list_directory", "list_directory_with_sizes", "directory_tree", "search_files":
		if !info.IsDir() {
			return path + " is not a directory"
		}
	case "create_directory":
		if !info.IsDir() {
			return "there is a file at " + path
		}
	}
	return ""
}

// gitEffect returns the effect of a call to the git server.
func (p *Previewer) gitEffect(ctx context.Context, c policy.Call) *Effect {
	switch command := p.command(c); command {
	case "push":
		var a pushArguments
		if json.Unmarshal(c.Arguments, &a) != nil {
			return nil
		}
		return p.push(ctx, a)
	case "commit":
		var a commitArguments
		if json.Unmarshal(c.Arguments, &a) != nil {
			return nil
		}
		return p.commit(ctx, a)
	case "fetch", "pull", "clone", "remote":
		var a struct {
			Path   string `json:"path"`
			Remote string `json:"remote"`
			URL    string `json:"url"`
			Name   string `json:"name"`
			Mode   string `json:"mode"`
		}
		if json.Unmarshal(c.Arguments, &a) != nil {
			return nil
		}
		d := p.newDraft(Remote)
		if where := cmp.Or(a.URL, a.Remote); where != "" {
			repo, err := gitx.Outside(p.home())
			if command != "clone" {
				repo, err = gitx.Open(a.Path, p.home())
			}
			if err != nil {
				d.fail(err, "the address cannot be shown")
				return d.done("git %s %s", command, where)
			}
			if command == "pull" {
				d.fact("branch", repo.Branch())
				d.fact("upstream", upstream(repo))
			}
			where = d.fetchAddresses(repo, where, p.Known)
			if command == "remote" {
				d.Fails = "" // it only writes the configuration
			}
			return d.done("git %s %s", strings.TrimSpace(command+" "+a.Mode+" "+a.Name), where)
		}
	}
	return nil
}

// fetchAddresses adds the addresses from which git would fetch, and warnings about them. It returns the
// first.
func (d *draft) fetchAddresses(repo *gitx.Repo, remote string, known []string) string {
	addresses, err := repo.Resolve(remote, gitx.Fetch)
	if err != nil {
		d.fail(err, "the address cannot be shown")
		d.Fails = err.Error()
		return remote
	}
	for _, a := range addresses {
		d.fact("address", a.String())
		d.note("from %s", a.String())
		d.host(a.Scheme, a.Host, a.Port, known)
	}
	return addresses[0].String()
}

// commandNames are the names of arguments that usually contain a command.
var commandNames = []string{"command", "cmd", "script", "code", "argv", "shell_command", "commandLine"}

// general returns the effect of a call to any other tool: its argument that looks like a URL or a
// command.
func (p *Previewer) general(c policy.Call) *Effect {
	var a map[string]json.RawMessage
	if json.Unmarshal(c.Arguments, &a) != nil {
		return nil
	}
	var url string
	if json.Unmarshal(a["url"], &url) == nil && url != "" {
		return p.web(url)
	}
	for _, name := range commandNames {
		if text, ok := commandText(a[name], a["args"]); ok {
			d := p.newDraft(Command)
			for i, line := range strings.Split(text, "\n") {
				if i == 0 {
					d.add(Item, "$ "+line)
				} else {
					d.add(Item, "  "+line)
				}
			}
			return d.done("runs a command of %s", plural(strings.Count(text, "\n")+1, "line"))
		}
	}
	return nil
}

// commandText returns a command, which is given as a text, with or without arguments, or as a list of
// words.
func commandText(raw, args json.RawMessage) (string, bool) {
	var text string
	var words []string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		if json.Unmarshal(args, &words) == nil && len(words) > 0 {
			text += " " + quoteWords(words)
		}
		return text, true
	}
	if json.Unmarshal(raw, &words) == nil && len(words) > 0 {
		return quoteWords(words), true
	}
	return "", false
}

// quoteWords joins words, with quotes where needed to show where each begins and ends.
func quoteWords(words []string) string {
	out := slices.Clone(words)
	for i, w := range out {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`|&;<>()*?[]{}~#!") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

package policy

import (
	"slices"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// listingModes are those in which git_remote reads the configuration and nothing else.
var listingModes = []string{"list", "get-url"}

// passesOver reports whether a rule that asks before a remote is contacted has nothing to
// ask of a call that only tells which remotes there are. The files that it reads are judged
// by their own role, and a rule that names the tool speaks of all that the tool does.
func (p *preparation) passesOver(r *rule, role Role) bool {
	return r != nil && r.then == Escalate && role == GitRemote && !slices.Contains(Find[Tools](r.when), p.tool.key.tool) && p.listsRemotes()
}

// listsRemotes reports whether a call shows the remotes of a repository, and of them no
// more than the repository's own configuration, in which no credentials are.
func (p *preparation) listsRemotes() bool {
	if !p.tool.traits.Git || p.tool.key.tool != "git_remote" || p.repo == nil {
		return false
	}
	mode, present := p.args.Member("mode")
	if !present || mode.Kind == jsonx.Null {
		mode, _ = p.tool.schema.defaultOf("mode")
	}
	return mode.Kind == jsonx.String && slices.Contains(listingModes, mode.Text) && p.repo.PlainRemotes()
}

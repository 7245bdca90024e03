package policy

import "slices"

// passesOver reports whether a rule that asks before a remote is contacted has nothing to
// ask of a call that only tells which remotes there are. The files that it reads are judged
// by their own role, and a rule that names the tool speaks of all that the tool does.
func (p *preparation) passesOver(r *rule, role Role) bool {
	return r != nil && r.then == Escalate && role == GitRemote && !slices.Contains(Find[Tools](r.when), p.tool.key.tool) && p.listsRemotes()
}

// listsRemotes reports whether a call shows the remotes of a repository, and of them no
// more than the repository's own configuration, in which no credentials are.
func (p *preparation) listsRemotes() bool {
	return p.tool.traits.Git && p.repo != nil && p.tool.does(lists, p.args) && p.repo.PlainRemotes()
}

package autoapprove

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/policy/gitx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/pathx"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy/urlx"
)

// ForPerson returns why a call is left to the person, whatever a model would answer, or nil. These
// rules remain where a model reads the receipt, in any language, in place of the grammar. What the
// call works on must be in the typed text, letter by letter: the model decides what the words
// order, and never what they are about.
func ForPerson(q Question) error {
	check, err := checkFor(q)
	if err != nil {
		return err
	}
	typed := typedText(q.Said)
	switch {
	case slices.ContainsFunc(q.Said, func(p Part) bool { return p.Pasted && strings.TrimSpace(p.Text) != "" }):
		return fmt.Errorf("part of the text was pasted")
	case strings.TrimSpace(typed) == "":
		return fmt.Errorf("nothing was typed")
	case len(typed) > maxText:
		return fmt.Errorf("the text is too long to be an order")
	case q.Git != nil:
		return gitForPerson(typed, q)
	case check.takes(web):
		return webForPerson(typed, q)
	case q.Exists && (check.takes(write) || check.takes(move)):
		return fmt.Errorf("the file exists already")
	}
	a, err := filesOf(q.Arguments)
	if err != nil {
		return err
	}
	named := slices.DeleteFunc(append(a.Paths, a.Path, a.Source, a.Destination), func(p string) bool { return p == "" })
	if len(named) == 0 {
		return fmt.Errorf("the call names no file")
	}
	for _, p := range named {
		if !containsName(typed, path.Base(p)) {
			return fmt.Errorf("the typed text does not name %s", path.Base(p))
		}
	}
	return nil
}

// typedText returns what was typed of a receipt.
func typedText(said []Part) string {
	var b strings.Builder
	for _, p := range said {
		if p.Pasted {
			b.WriteByte(' ')
			continue
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// containsName reports whether a text contains a name that is not part of a longer one: no ASCII
// letter or digit, "-" or "_" is next to it. Other letters may be, because some languages put no
// spaces between words.
func containsName(text, name string) bool {
	part := func(c byte) bool {
		return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
	}
	for at := 0; name != ""; at++ {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		at += i
		end := at + len(name)
		if (at == 0 || !part(text[at-1])) && (end == len(text) || !part(text[end])) {
			return true
		}
	}
	return false
}

// gitForPerson is ForPerson for a call that contacts a remote.
func gitForPerson(typed string, q Question) error {
	g := q.Git
	if len(g.Addresses) != 1 {
		return fmt.Errorf("git would connect to several addresses, or to none that is known")
	}
	if g.Odd != "" {
		return fmt.Errorf("git would do more than the call says: %s", g.Odd)
	}
	actual, err := gitx.ParseAddress(g.Addresses[0])
	if err != nil {
		return fmt.Errorf("the address to which git would connect is not understood")
	}
	if !slices.Contains(q.Place.Known, actual.Host) {
		return fmt.Errorf("%s is not a host that is known", actual.Host)
	}
	if q.Command == "clone" {
		return cloneForPerson(typed, actual, q)
	}
	if !g.Root {
		return fmt.Errorf("the repository is not the workspace")
	}
	named := false
	for name, pinned := range g.Pinned {
		named = named || pinned == actual.String() && (containsName(typed, name) || containsName(typed, actual.Host))
	}
	if !named {
		return fmt.Errorf("the typed text names no remote with this address that was there when the session began")
	}
	return branchesForPerson(typed, q)
}

// branchesForPerson compares the branches and flags of a call with what was typed and
// checked out.
func branchesForPerson(typed string, q Question) error {
	var a gitArguments
	if err := decode(q.Arguments, &a); err != nil {
		return err
	}
	g := q.Git
	branch := cmp.Or(a.Branch, g.Branch)
	target := cmp.Or(a.RemoteBranch, branch)
	meant := func(name string) bool { return name == g.Typed.Branch || containsName(typed, name) }
	switch {
	case a.Force || a.Lease || a.Delete || a.Tags || a.Prune || a.Rebase:
		return fmt.Errorf("force, tags, deleting, pruning and rebasing are left to the person")
	case branch == "" || branch == "HEAD" || strings.HasPrefix(branch, "refs/") || strings.HasPrefix(target, "refs/"):
		return fmt.Errorf("it is not clear which branch is meant")
	case g.Typed.Branch == "":
		return fmt.Errorf("it is not known which branch was checked out when the text was typed")
	case !meant(branch) || !meant(target):
		return fmt.Errorf("the typed text does not name the branch, and another one was checked out when it was typed")
	case q.Command == "pull" && (g.Branch != g.Typed.Branch || g.Upstream != g.Typed.Upstream):
		return fmt.Errorf("another branch is checked out than when the text was typed, or its upstream is another one")
	}
	return nil
}

// cloneForPerson is ForPerson for a clone: the whole address must have been typed.
func cloneForPerson(typed string, actual gitx.Address, q Question) error {
	typedIt := slices.ContainsFunc(strings.Fields(typed), func(word string) bool {
		said, err := gitx.ParseAddress(strings.Trim(word, `.,;:!?"'()`))
		return err == nil && said.String() == actual.String()
	})
	if !typedIt {
		return fmt.Errorf("the address was not typed")
	}
	var a cloneArguments
	if err := decode(q.Arguments, &a); err != nil {
		return err
	}
	switch {
	case a.Bare || a.Mirror || a.Branch != "":
		return fmt.Errorf("the clone would be of another kind than ordered")
	case !pathx.Within(a.Path, q.Place.Workspace) && !containsName(typed, path.Base(a.Path)):
		return fmt.Errorf("the clone would be outside the workspace, in a directory that was not named")
	}
	return nil
}

// webForPerson is ForPerson for a page: the whole address must have been typed, and nothing
// else is sent.
func webForPerson(typed string, q Question) error {
	for _, word := range strings.Fields(typed) {
		word = strings.Trim(word, `,;!"'()<>`)
		if said, err := urlx.Parse(word); err == nil && compareWeb(order{url: said.String()}, q) == nil {
			return nil
		}
	}
	return fmt.Errorf("the address was not typed, or the call also sends headers")
}

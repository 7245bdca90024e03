package autoapprove

import (
	"regexp"
	"strings"
)

// pushed are words for what a push sends.
var pushed = set(`my our the these this those all latest local new current changes change commits commit work branch it them your everything code updates edits`)

// refName is what a branch or a remote may be called in an order.
var refName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$`)

// reserved words are never names.
var reserved = set(`to from on at of in into onto as with using by and or the a an my our your this that these those it them all any branch remote
	repository repo force forced tags tag lease please now everything changes change commits commit work`)

func (c *clause) name() (string, bool) {
	w := c.peek()
	if !refName.MatchString(w) || reserved[w] || strings.HasPrefix(w, "-") || strings.Contains(w, "//") || strings.Contains(w, "..") {
		return "", false
	}
	return c.take(), true
}

// address takes a remote that is written out.
func (c *clause) address() (string, bool) {
	w := c.peek()
	if strings.Contains(w, "://") || strings.Contains(w, "@") && strings.Contains(w, ":") {
		return c.take(), true
	}
	return "", false
}

// flags takes what says how a push is made.
func (c *clause) flags(o *order) bool {
	switch {
	case c.row("force", "with", "lease"), c.row("with", "force", "and", "lease"), c.row("--force-with-lease"), c.row("with", "force", "with", "lease"):
		o.flags["lease"] = true
	case c.row("with", "force"), c.row("using", "force"), c.one("--force", "-f", "force", "forcefully"):
		o.flags["force"] = true
	case c.row("with", "all", "tags"), c.row("with", "the", "tags"), c.row("with", "tags"), c.row("including", "tags"), c.row("including", "the", "tags"),
		c.row("and", "all", "tags"), c.row("and", "the", "tags"), c.row("and", "tags"), c.row("all", "tags"), c.one("--tags", "tags"):
		o.flags["tags"] = true
	case c.row("set", "upstream"), c.one("-u", "--set-upstream"):
		o.flags["upstream"] = true
	default:
		return false
	}
	return true
}

// readPush reads "push my changes to origin" and its like.
func readPush(c *clause) (order, bool) {
	o := order{verb: push, flags: map[string]bool{}}
	c.one("git")
	switch {
	case c.one("force-push"), c.row("force", "push"):
		o.flags["force"] = true
	case !c.one("push"):
		return order{}, false
	}
	o.flags["only tags"] = c.ahead("tags") || c.ahead("all", "tags") || c.ahead("the", "tags") || c.ahead("my", "tags")
	if c.ahead("my", "tags") || c.ahead("the", "tags") {
		c.take()
	}
	for c.flags(&o) {
	}
	bare := len(c.words)
	c.any(pushed)
	plain := bare == len(c.words) // nothing stood between push and what follows
	for c.flags(&o) {
	}
	if !c.to() {
		first, ok := c.name()
		if !ok {
			return order{}, false
		}
		if c.one("branch") || !plain || c.peek() == "to" || c.peek() == "and" || strings.HasPrefix(c.peek(), "with") {
			o.branch = first
			for c.flags(&o) {
			}
			if !c.to() {
				return order{}, false
			}
		} else { // as git is given it: push origin main
			o.remote = first
			if second, ok := c.name(); ok {
				o.branch, o.target = second, second
			}
			for c.flags(&o) {
			}
			return o, true
		}
	}
	return c.destination(o)
}

func (c *clause) to() bool { return c.one("to", "onto") }

// destination reads where a push goes: a remote, with or without a branch.
func (c *clause) destination(o order) (order, bool) {
	c.one("the", "my", "our")
	c.one("remote", "repository")
	var ok bool
	switch {
	case c.one("branch"):
		if o.target, ok = c.name(); !ok || !c.one("on", "at", "of") {
			return order{}, false
		}
		fallthrough
	default:
		if o.remote, ok = c.address(); !ok {
			if o.remote, ok = c.name(); !ok {
				return order{}, false
			}
		}
	}
	if o.target == "" && c.one("on", "at") { // to main on origin
		o.target = o.remote
		c.one("the", "my", "our")
		if o.remote, ok = c.name(); !ok {
			return order{}, false
		}
	}
	c.one("remote", "repository", "repo")
	if o.target == "" {
		c.row("on", "branch")
		c.row("as", "branch")
		c.one("as", "branch")
		if target, ok := c.name(); ok {
			if o.target = target; o.branch == "" {
				o.branch = target // as with git push origin release
			}
		}
	}
	for c.flags(&o) {
	}
	return o, true
}

// readDelete reads "delete the branch x on origin".
func readDelete(c *clause) (order, bool) {
	o := order{verb: deleteBranch, flags: map[string]bool{}}
	if !c.one("delete", "remove") {
		return order{}, false
	}
	c.one("the")
	c.one("remote")
	if !c.one("branch") {
		return order{}, false
	}
	var ok bool
	if o.target, ok = c.name(); !ok || !c.one("on", "from", "at") {
		return order{}, false
	}
	c.one("the", "my", "our")
	c.one("remote")
	o.remote, ok = c.name()
	return o, ok
}

// readReceive reads "pull main from origin" and "fetch from origin".
func readReceive(c *clause) (order, bool) {
	o := order{flags: map[string]bool{}}
	c.one("git")
	switch {
	case c.one("fetch"):
		o.verb = fetch
	case c.one("pull"):
		o.verb = pull
	default:
		return order{}, false
	}
	flags := func() {
		for {
			switch {
			case c.row("with", "rebase"), c.one("--rebase", "rebasing"):
				o.flags["rebase"] = true
			case c.row("and", "prune"), c.one("--prune"):
				o.flags["prune"] = true
			case c.row("with", "tags"), c.row("all", "tags"), c.row("and", "tags"), c.one("--tags"):
				o.flags["tags"] = true
			default:
				return
			}
		}
	}
	flags()
	before := len(c.words)
	c.any(set(`the all latest new recent changes commits updates everything in`))
	plain := before == len(c.words)
	var ok bool
	if c.one("from") {
		c.one("the", "my", "our")
		c.one("remote")
		if o.remote, ok = c.address(); !ok {
			if o.remote, ok = c.name(); !ok {
				return order{}, false
			}
		}
		c.one("remote")
		flags()
		return o, true
	}
	first, ok := c.name()
	if !ok {
		return order{}, false
	}
	if c.one("branch") || c.peek() == "from" {
		o.branch = first
		if !c.one("from") {
			return order{}, false
		}
		o.remote, ok = c.name()
		flags()
		return o, ok
	}
	if !plain {
		return order{}, false
	}
	o.remote = first
	if second, ok := c.name(); ok {
		o.branch = second
	}
	flags()
	return o, true
}

// readClone reads "clone https://github.com/me/x into ~/x".
func readClone(c *clause) (order, bool) {
	o := order{verb: clone, flags: map[string]bool{}}
	c.one("git")
	if !c.one("clone") {
		return order{}, false
	}
	c.one("the")
	c.one("repository", "repo")
	var ok bool
	if o.url, ok = c.address(); !ok {
		return order{}, false
	}
	if c.one("into", "to", "in") && !c.path(&o) {
		return order{}, false
	}
	return o, true
}

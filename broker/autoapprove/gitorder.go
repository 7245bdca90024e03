package autoapprove

import (
	"regexp"
	"strings"
)

// pushed are words for what a push sends.
var pushed = set(`my our the these this those all latest local new current changes change commits commit work branch it them your everything code updates edits`)

// refName matches what a branch or a remote may be called in an order.
var refName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

// reserved words are never names.
var reserved = set(`to from on at of in into onto as with using by and or the a an my our your this that these those it them all any branch remote
	repository repo force forced tags tag lease please now everything changes change commits commit work`)

func (c *clause) name() (string, bool) {
	w := c.peek()
	if len(w) > 100 || !refName.MatchString(w) || reserved[w] || strings.HasPrefix(w, "-") || strings.Contains(w, "//") || strings.Contains(w, "..") {
		return "", false
	}
	return c.take(), true
}

// address reads a remote that is written as an address.
func (c *clause) address() (string, bool) {
	w := c.peek()
	if strings.Contains(w, "://") || strings.Contains(w, "@") && strings.Contains(w, ":") {
		return c.take(), true
	}
	return "", false
}

// pushFlag reads a phrase that says how a push is made.
func (c *clause) pushFlag(o *order) bool {
	switch {
	case c.phrase("force", "with", "lease"), c.phrase("with", "force", "and", "lease"), c.phrase("--force-with-lease"), c.phrase("with", "force", "with", "lease"):
		o.flags.lease = true
	case c.phrase("with", "force"), c.phrase("using", "force"), c.word("--force", "-f", "force", "forcefully"):
		o.flags.force = true
	case c.phrase("with", "all", "tags"), c.phrase("with", "the", "tags"), c.phrase("with", "tags"), c.phrase("including", "tags"), c.phrase("including", "the", "tags"),
		c.phrase("and", "all", "tags"), c.phrase("and", "the", "tags"), c.phrase("and", "tags"), c.phrase("all", "tags"), c.word("--tags", "tags"):
		o.flags.tags = true
	case c.phrase("set", "upstream"), c.word("-u", "--set-upstream"): // sends nothing more
	default:
		return false
	}
	return true
}

// readPush reads "push my changes to origin" and its like.
func readPush(c *clause) (order, bool) {
	o := order{verb: push}
	c.word("git")
	switch {
	case c.word("force-push"), c.phrase("force", "push"):
		o.flags.force = true
	case !c.word("push"):
		return order{}, false
	}
	o.flags.onlyTags = c.ahead("tags") || c.ahead("all", "tags") || c.ahead("the", "tags") || c.ahead("my", "tags")
	if c.ahead("my", "tags") || c.ahead("the", "tags") {
		c.take()
	}
	for c.pushFlag(&o) {
	}
	bare := len(c.words)
	c.skipAll(pushed)
	plain := bare == len(c.words) // no word between push and what follows
	for c.pushFlag(&o) {
	}
	if !c.to() {
		first, ok := c.name()
		if !ok {
			return order{}, false
		}
		if c.word("branch") || !plain || c.peek() == "to" || c.peek() == "and" || strings.HasPrefix(c.peek(), "with") {
			o.branch = first
			for c.pushFlag(&o) {
			}
			if !c.to() {
				return order{}, false
			}
		} else { // in the order of git's arguments: push origin main
			o.remote = first
			if second, ok := c.name(); ok {
				o.branch, o.target = second, second
			}
			for c.pushFlag(&o) {
			}
			return o, true
		}
	}
	return c.destination(o)
}

func (c *clause) to() bool { return c.word("to", "onto") }

// destination reads where a push goes: a remote, with or without a branch.
func (c *clause) destination(o order) (order, bool) {
	c.word("the", "my", "our")
	c.word("remote", "repository")
	var ok bool
	switch {
	case c.word("branch"):
		if o.target, ok = c.name(); !ok || !c.word("on", "at", "of") {
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
	if o.target == "" && c.word("on", "at") { // to main on origin
		o.target = o.remote
		c.word("the", "my", "our")
		if o.remote, ok = c.name(); !ok {
			return order{}, false
		}
	}
	c.word("remote", "repository", "repo")
	if o.target == "" {
		c.phrase("on", "branch")
		c.phrase("as", "branch")
		c.word("as", "branch")
		if target, ok := c.name(); ok {
			if o.target = target; o.branch == "" {
				o.branch = target // as with git push origin release
			}
		}
	}
	for c.pushFlag(&o) {
	}
	return o, true
}

// readDelete reads "delete the branch x on origin".
func readDelete(c *clause) (order, bool) {
	o := order{verb: deleteBranch}
	if !c.word("delete", "remove") {
		return order{}, false
	}
	c.word("the")
	c.word("remote")
	if !c.word("branch") {
		return order{}, false
	}
	var ok bool
	if o.target, ok = c.name(); !ok || !c.word("on", "from", "at") {
		return order{}, false
	}
	c.word("the", "my", "our")
	c.word("remote")
	o.remote, ok = c.name()
	return o, ok
}

// receiveFlags reads the phrases that say how a pull or a fetch is made.
func (c *clause) receiveFlags(o *order) {
	for {
		switch {
		case c.phrase("with", "rebase"), c.word("--rebase", "rebasing"):
			o.flags.rebase = true
		case c.phrase("and", "prune"), c.word("--prune"):
			o.flags.prune = true
		case c.phrase("with", "tags"), c.phrase("all", "tags"), c.phrase("and", "tags"), c.word("--tags"):
			o.flags.tags = true
		default:
			return
		}
	}
}

// readReceive reads "pull main from origin" and "fetch from origin".
func readReceive(c *clause) (order, bool) {
	o := order{}
	c.word("git")
	switch {
	case c.word("fetch"):
		o.verb = fetch
	case c.word("pull"):
		o.verb = pull
	default:
		return order{}, false
	}
	c.receiveFlags(&o)
	before := len(c.words)
	c.skipAll(set(`the all latest new recent changes commits updates everything in`))
	plain := before == len(c.words)
	var ok bool
	if c.word("from") {
		c.word("the", "my", "our")
		c.word("remote")
		if o.remote, ok = c.address(); !ok {
			if o.remote, ok = c.name(); !ok {
				return order{}, false
			}
		}
		c.word("remote")
		c.receiveFlags(&o)
		return o, true
	}
	first, ok := c.name()
	if !ok {
		return order{}, false
	}
	if c.word("branch") || c.peek() == "from" {
		o.branch = first
		if !c.word("from") {
			return order{}, false
		}
		o.remote, ok = c.name()
		c.receiveFlags(&o)
		return o, ok
	}
	if !plain {
		return order{}, false
	}
	o.remote = first
	if second, ok := c.name(); ok {
		o.branch = second
	}
	c.receiveFlags(&o)
	return o, true
}

// readClone reads "clone https://github.com/me/x into ~/x".
func readClone(c *clause) (order, bool) {
	o := order{verb: clone}
	c.word("git")
	if !c.word("clone") {
		return order{}, false
	}
	c.word("the")
	c.word("repository", "repo")
	var ok bool
	if o.url, ok = c.address(); !ok {
		return order{}, false
	}
	if c.word("into", "to", "in") && !c.path(&o) {
		return order{}, false
	}
	return o, true
}

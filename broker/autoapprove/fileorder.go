package autoapprove

import "strings"

// isPath reports whether a word can only be a path: relative ones could be
// anything.
func isPath(w string) bool { return strings.HasPrefix(w, "/") || strings.HasPrefix(w, "~/") }

// path takes a path.
func (c *clause) path(o *order) bool {
	c.one("the")
	c.one("file", "directory", "folder")
	c.one("at")
	if !isPath(c.peek()) {
		return false
	}
	o.paths = append(o.paths, c.take())
	return true
}

// pathList takes one path or several.
func (c *clause) pathList(o *order) bool {
	if !c.path(o) {
		return false
	}
	for len(c.words) > 0 {
		rest := c.words
		c.any(set(`and ,`))
		if len(rest) == len(c.words) || !c.path(o) {
			c.words = rest
			return true
		}
	}
	return true
}

// readFiles reads "read ~/notes.txt".
func readFiles(c *clause) (order, bool) {
	o := order{verb: readFile}
	switch {
	case c.row("look", "at"), c.row("take", "a", "look", "at"), c.row("show", "me"), c.one("read", "open", "cat", "view", "show", "print"):
	default:
		return order{}, false
	}
	c.one("the", "my")
	if c.one("contents", "content") && !c.one("of") {
		return order{}, false
	}
	c.one("the", "my")
	c.one("file", "files")
	return o, c.pathList(&o)
}

// readList reads "list the files in /srv/data".
func readList(c *clause) (order, bool) {
	o := order{verb: list, flags: map[string]bool{}}
	if !c.one("list", "ls") {
		return order{}, false
	}
	for i := 0; i < len(c.words) && !isPath(c.words[i]); i++ {
		if w := strings.ToLower(c.words[i]); w == "everything" || w == "tree" || w == "all" {
			o.flags["deep"] = true
		}
	}
	c.any(set(`all the files contents content of everything in inside below under directory folder tree`))
	return o, c.path(&o)
}

// readMake reads "create the directory /srv/data/new".
func readMake(c *clause) (order, bool) {
	o := order{verb: makeDirectory}
	if c.one("mkdir") {
		return o, c.path(&o)
	}
	if !c.one("create", "make") {
		return order{}, false
	}
	c.any(set(`a an the new`))
	if !c.one("directory", "folder", "dir") {
		return order{}, false
	}
	return o, c.path(&o)
}

// readWrite reads "write the summary to ~/notes.txt" and "overwrite ~/notes.txt".
func readWrite(c *clause) (order, bool) {
	if c.one("overwrite", "replace", "rewrite") {
		o := order{verb: overwrite}
		return o, c.path(&o)
	}
	o := order{verb: write}
	if c.one("create") {
		c.any(set(`a the new`))
		return o, c.path(&o)
	}
	if !c.one("write", "save", "store", "put") {
		return order{}, false
	}
	c.any(set(`it this that the a an my your summary result results report notes output list answer findings everything`))
	if !c.one("to", "into", "in", "as") {
		return order{}, false
	}
	return o, c.path(&o)
}

// readEdit reads "edit ~/notes.txt".
func readEdit(c *clause) (order, bool) {
	o := order{verb: edit}
	if !c.one("edit", "update", "change", "modify", "fix") {
		return order{}, false
	}
	return o, c.path(&o)
}

// readMove reads "move /a to /b".
func readMove(c *clause) (order, bool) {
	o := order{verb: move}
	if !c.one("move", "rename") {
		return order{}, false
	}
	return o, c.path(&o) && c.one("to", "into") && c.path(&o)
}

// readWeb reads "fetch https://example.org/page".
func readWeb(c *clause) (order, bool) {
	o := order{verb: web}
	if !c.row("look", "at") && !c.one("fetch", "get", "open", "read", "visit", "download", "load") {
		return order{}, false
	}
	c.any(set(`the a page site website url address at from`))
	if !strings.HasPrefix(c.peek(), "https://") && !strings.HasPrefix(c.peek(), "http://") {
		return order{}, false
	}
	o.url = c.take()
	return o, true
}

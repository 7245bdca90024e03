package autoapprove

import "strings"

// isPath reports whether a word is an absolute path or one below the home. A relative path is not
// distinguished from other words.
func isPath(w string) bool { return strings.HasPrefix(w, "/") || strings.HasPrefix(w, "~/") }

// path reads a path.
func (c *clause) path(o *order) bool {
	c.word("the")
	c.word("file", "directory", "folder")
	c.word("at")
	if !isPath(c.peek()) {
		return false
	}
	o.paths = append(o.paths, c.take())
	return true
}

// pathList reads one path or several.
func (c *clause) pathList(o *order) bool {
	if !c.path(o) {
		return false
	}
	for len(c.words) > 0 {
		rest := c.words
		c.skipAll(set(`and ,`))
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
	case c.phrase("look", "at"), c.phrase("take", "a", "look", "at"), c.phrase("show", "me"), c.word("read", "open", "cat", "view", "show", "print"):
	default:
		return order{}, false
	}
	c.word("the", "my")
	if c.word("contents", "content") && !c.word("of") {
		return order{}, false
	}
	c.word("the", "my")
	c.word("file", "files")
	return o, c.pathList(&o)
}

// readList reads "list the files in /srv/data".
func readList(c *clause) (order, bool) {
	o := order{verb: list}
	if !c.word("list", "ls") {
		return order{}, false
	}
	for i := 0; i < len(c.words) && !isPath(c.words[i]); i++ {
		if w := strings.ToLower(c.words[i]); w == "everything" || w == "tree" || w == "all" {
			o.flags.deep = true
		}
	}
	c.skipAll(set(`all the files contents content of everything in inside below under directory folder tree`))
	return o, c.path(&o)
}

// readMake reads "create the directory /srv/data/new".
func readMake(c *clause) (order, bool) {
	o := order{verb: makeDirectory}
	if c.word("mkdir") {
		return o, c.path(&o)
	}
	if !c.word("create", "make") {
		return order{}, false
	}
	c.skipAll(set(`a an the new`))
	if !c.word("directory", "folder", "dir") {
		return order{}, false
	}
	return o, c.path(&o)
}

// readWrite reads "write the summary to ~/notes.txt" and "overwrite ~/notes.txt".
func readWrite(c *clause) (order, bool) {
	if c.word("overwrite", "replace", "rewrite") {
		o := order{verb: overwrite}
		return o, c.path(&o)
	}
	o := order{verb: write}
	if c.word("create") {
		c.skipAll(set(`a the new`))
		return o, c.path(&o)
	}
	if !c.word("write", "save", "store", "put") {
		return order{}, false
	}
	c.skipAll(set(`it this that the a an my your summary result results report notes output list answer findings everything`))
	if !c.word("to", "into", "in", "as") {
		return order{}, false
	}
	return o, c.path(&o)
}

// readEdit reads "edit ~/notes.txt".
func readEdit(c *clause) (order, bool) {
	o := order{verb: edit}
	if !c.word("edit", "update", "change", "modify", "fix") {
		return order{}, false
	}
	return o, c.path(&o)
}

// readMove reads "move /a to /b".
func readMove(c *clause) (order, bool) {
	o := order{verb: move}
	if !c.word("move", "rename") {
		return order{}, false
	}
	return o, c.path(&o) && c.word("to", "into") && c.path(&o)
}

// readWeb reads "fetch https://example.org/page".
func readWeb(c *clause) (order, bool) {
	o := order{verb: web}
	if !c.phrase("look", "at") && !c.word("fetch", "get", "open", "read", "visit", "download", "load") {
		return order{}, false
	}
	c.skipAll(set(`the a page site website url address at from`))
	if !strings.HasPrefix(c.peek(), "https://") && !strings.HasPrefix(c.peek(), "http://") {
		return order{}, false
	}
	o.url = c.take()
	return o, true
}

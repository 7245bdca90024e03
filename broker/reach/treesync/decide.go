package treesync

import "slices"

// change replaces from by to at one path, on the side that is written. Both point into the lists
// that were compared, which can be long, or to none.
type change struct {
	path     string
	from, to *node
}

// none stands for a path at which there is nothing. It is never written.
var none node

// plan lists what to do to make both sides equal. Each list is in the order of paths.
type plan struct {
	fetch []change // to write on the host
	put   []change // to write in the container
	aside []string // host files to rename, because the agent's version takes their path
	agree []entry  // equal on both sides, or missing on both
	left  []Left
}

// decider compares a tree's state on the host and in the container with the one agreed on last.
type decider struct {
	o               *Options
	agreed          map[string]node
	host, container manifest
	met             int // how many paths of agreed are in either list
	plan            plan
	blocked         string // nothing at or below this path is touched
	isBlocked       bool
}

// decide plans a Sync. It is pure.
func decide(o *Options, agreed map[string]node, host, container manifest) plan {
	d := &decider{o: o, agreed: agreed, host: host, container: container}
	i, j := 0, 0
	for i < len(host.all) || j < len(container.all) {
		var path string
		h, c, cmp := &none, &none, 0
		switch {
		case i == len(host.all):
			cmp = 1
		case j == len(container.all):
			cmp = -1
		default:
			cmp = order(host.all[i].path, container.all[j].path)
		}
		if cmp <= 0 {
			path, h = host.all[i].path, &host.all[i].node
			i++
		}
		if cmp >= 0 {
			path, c = container.all[j].path, &container.all[j].node
			j++
		}
		d.path(path, h, c)
	}
	if d.met < len(agreed) {
		d.agreeDeleted()
	}
	d.reconcile()
	return d.plan
}

// agreeDeleted adds the agreed paths that are missing on both sides now.
func (d *decider) agreeDeleted() {
	for path := range d.agreed {
		if !has(d.host.all, path) && !has(d.container.all, path) && !d.unknown(path) {
			d.plan.agree = append(d.plan.agree, entry{path: path})
		}
	}
}

// unknown reports whether a path is beyond the end of a list that the container cut short.
func (d *decider) unknown(path string) bool {
	if !d.container.cut {
		return false
	}
	n := len(d.container.all)
	return n == 0 || order(path, d.container.all[n-1].path) > 0
}

// path decides about one path by itself: h is the host's node, c the container's. reconcile
// compares the decisions about different paths.
func (d *decider) path(path string, h, c *node) {
	agreed, known := d.agreed[path]
	if known {
		d.met++
	}
	if d.isBlocked && below(path, d.blocked) {
		d.reportHidden(h)
		return
	}
	if d.unknown(path) {
		d.block(path, "")
		return
	}
	fixed := d.fixed(path, h, c)
	if h.kind != nothing && !h.kind.carried() || c.kind != nothing && !c.kind.carried() && !fixed {
		d.block(path, why(c.kind))
		if !c.kind.carried() && c.kind != nothing {
			d.reportHidden(h)
		}
		return
	}
	fetch := func() { d.plan.fetch = append(d.plan.fetch, change{path, h, c}) }
	put := func() { d.plan.put = append(d.plan.put, change{path, c, h}) }
	wanted := c.kind == nothing || d.o.Wanted == nil || d.o.Wanted(path, c.size)
	switch {
	case h.same(*c):
		if !known || !agreed.same(*c) {
			d.plan.agree = append(d.plan.agree, entry{path, *c})
		}
	case fixed:
		put()
	case d.o.OneWay:
		if h.kind != nothing || c.same(agreed) {
			put()
		}
	case !wanted:
		if c.same(agreed) && h.kind != nothing {
			put()
		}
	case h.same(agreed):
		fetch()
	case c.same(agreed), c.kind == nothing, h.kind != nothing && d.o.Ours != nil && d.o.Ours(path):
		put()
	case h.kind == nothing, h.kind == directory && c.kind == directory, h.kind == c.kind && h.sameContent(*c):
		fetch()
	default:
		d.plan.aside = append(d.plan.aside, path)
	}
}

// block excludes a path and all below it from this Sync, and reports it if there is a reason to.
func (d *decider) block(path, why string) {
	d.blocked, d.isBlocked = path, true
	if why != "" {
		d.plan.left = append(d.plan.left, Left{Path: path, Why: why})
	}
}

// reportHidden marks the blocked path in the report as one that keeps h, a node of the host,
// out of the container.
func (d *decider) reportHidden(h *node) {
	if h.kind == nothing || d.unknown(d.blocked) {
		return
	}
	last := len(d.plan.left) - 1
	if last < 0 || d.plan.left[last].Path != d.blocked {
		d.plan.left = append(d.plan.left, Left{Path: d.blocked, Why: "a device, pipe or socket has its name"})
		last++
	}
	d.plan.left[last].Hides = true
}

func why(k kind) string {
	switch k {
	case large:
		return "it is larger than the limit for one file"
	case unreadable:
		return "it cannot be read, or has too many files"
	default: // special: Report.Odd counts it
		return ""
	}
}

// fixed reports whether the host's node replaces what the container has: at or below a fixed
// path, and for a directory that leads to one.
func (d *decider) fixed(path string, h, c *node) bool {
	for _, f := range d.o.Fixed {
		if below(path, f) || h.kind == directory && c.kind != directory && below(f, path) {
			return true
		}
	}
	return false
}

// reconcile changes decisions that contradict each other: a directory cannot be removed or
// replaced while something below it stays or arrives.
func (d *decider) reconcile() {
	p := &d.plan
	if d.o.Wanted != nil {
		d.fetchParents()
	}
	if !slices.ContainsFunc(p.fetch, removesDir) && !slices.ContainsFunc(p.put, removesDir) {
		return
	}
	hostKeeps, containerKeeps := dirsKept(d.host.all, p.fetch), dirsKept(d.container.all, p.put)
	comes := map[string]bool{}
	for _, c := range p.fetch {
		if c.to.kind != nothing {
			addParents(comes, c.path)
		}
	}
	fetch, put := p.fetch, p.put
	p.fetch, p.put = nil, nil
	for _, c := range fetch {
		switch {
		case !removesDir(c) || !hostKeeps[c.path]:
			p.fetch = append(p.fetch, c)
		case c.to.kind == nothing: // files of the host stay below it, so the container gets it again
			p.put = append(p.put, change{c.path, &none, c.from})
		default:
			p.aside = append(p.aside, c.path)
		}
	}
	for _, c := range put {
		switch {
		case !removesDir(c) || !containerKeeps[c.path]:
			p.put = append(p.put, c)
		case c.to.kind == nothing && comes[c.path]: // the agent's files below it are fetched, so the host gets it again
			p.fetch = append(p.fetch, change{c.path, &none, c.from})
		case c.to.kind == nothing: // what is in it stays in the container only
		case d.o.OneWay || d.fixed(c.path, c.to, c.from):
			p.left = append(p.left, Left{c.path, "a directory in the container has its name", true})
		default:
			p.aside = append(p.aside, c.path)
		}
	}
	slices.SortFunc(p.fetch, byPath)
	slices.SortFunc(p.put, byPath)
	slices.SortFunc(p.aside, order)
}

func byPath(a, b change) int { return order(a.path, b.path) }

// removesDir reports whether a change removes a directory or replaces it by something else.
func removesDir(c change) bool { return c.from.kind == directory && c.to.kind != directory }

// dirsKept returns the directories that still contain something after the changes.
func dirsKept(all []entry, changes []change) map[string]bool {
	goes := map[string]bool{}
	for _, c := range changes {
		if c.to.kind == nothing {
			goes[c.path] = true
		}
	}
	holds := map[string]bool{}
	for _, e := range all {
		if !goes[e.path] {
			addParents(holds, e.path)
		}
	}
	return holds
}

// addParents adds all directories above a path.
func addParents(dirs map[string]bool, path string) {
	for dir := parent(path); dir != "" && !dirs[dir]; dir = parent(dir) {
		dirs[dir] = true
	}
}

// fetchParents adds the directories that Wanted refused but that lead to something it accepted.
func (d *decider) fetchParents() {
	need, have := map[string]bool{}, map[string]bool{}
	for _, c := range d.plan.fetch {
		if c.to.kind == nothing {
			continue
		}
		have[c.path] = true
		addParents(need, c.path)
	}
	for dir := range need {
		i, found := slices.BinarySearchFunc(d.container.all, dir, byOrder)
		if found && !have[dir] && !has(d.host.all, dir) {
			d.plan.fetch = append(d.plan.fetch, change{dir, &none, &d.container.all[i].node})
		}
	}
	slices.SortFunc(d.plan.fetch, byPath)
}

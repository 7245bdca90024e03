package treesync

import "slices"

// change is what is to be done about one path. From is what stands there now, on the side
// that is written; to is what shall stand there. Both are nodes of the lists that were compared,
// of which a container can make long ones, or none.
type change struct {
	path     string
	from, to *node
}

// none is what stands where nothing does. It is only read.
var none node

// plan is what makes both sides equal. Each list is in the order of paths.
type plan struct {
	fetch []change // here
	put   []change // there
	aside []string // ours, in the way of the agent's
	agree []entry  // equal on both sides, or nothing on either
	left  []Left
}

// decider compares three states of a tree.
type decider struct {
	o               *Options
	agreed          map[string]node
	host, container manifest
	met             int // paths of agreed that were met
	plan            plan
	blocked         string // nothing at or below it is touched
	isBlocked       bool
}

// decide plans a Sync. It is pure.
func decide(o *Options, agreed map[string]node, host, container manifest) plan {
	d := &decider{o: o, agreed: agreed, host: host, container: container}
	i, j := 0, 0
	for i < len(host.all) || j < len(container.all) {
		var path string
		h, t, c := &none, &none, 0
		switch {
		case i == len(host.all):
			c = 1
		case j == len(container.all):
			c = -1
		default:
			c = order(host.all[i].path, container.all[j].path)
		}
		if c <= 0 {
			path, h = host.all[i].path, &host.all[i].node
			i++
		}
		if c >= 0 {
			path, t = container.all[j].path, &container.all[j].node
			j++
		}
		d.path(path, h, t)
	}
	if d.met < len(agreed) {
		d.agreeDeleted()
	}
	d.reconcile()
	return d.plan
}

// forget finds what is agreed and stands on neither side any more.
func (d *decider) agreeDeleted() {
	for path := range d.agreed {
		if !has(d.host.all, path) && !has(d.container.all, path) && !d.unknown(path) {
			d.plan.agree = append(d.plan.agree, entry{path: path})
		}
	}
}

// unknown reports whether a path is one of those that the container did not come to list.
func (d *decider) unknown(path string) bool {
	if !d.container.cut {
		return false
	}
	n := len(d.container.all)
	return n == 0 || order(path, d.container.all[n-1].path) > 0
}

// path decides about one path by itself; settle looks at what stands on the way.
func (d *decider) path(path string, h, t *node) {
	b, known := d.agreed[path]
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
	fixed := d.fixed(path, h, t)
	if h.kind != nothing && !h.kind.carried() || t.kind != nothing && !t.kind.carried() && !fixed {
		d.block(path, why(t.kind))
		if !t.kind.carried() && t.kind != nothing {
			d.reportHidden(h)
		}
		return
	}
	fetch := func() { d.plan.fetch = append(d.plan.fetch, change{path, h, t}) }
	put := func() { d.plan.put = append(d.plan.put, change{path, t, h}) }
	wanted := t.kind == nothing || d.o.Wanted == nil || d.o.Wanted(path, t.size)
	switch {
	case h.same(*t):
		if !known || !b.same(*t) {
			d.plan.agree = append(d.plan.agree, entry{path, *t})
		}
	case fixed:
		put()
	case d.o.OneWay:
		if h.kind != nothing || t.same(b) {
			put()
		}
	case !wanted:
		if t.same(b) && h.kind != nothing {
			put()
		}
	case h.same(b):
		fetch()
	case t.same(b), t.kind == nothing, h.kind != nothing && d.o.Ours != nil && d.o.Ours(path):
		put()
	case h.kind == nothing, h.kind == directory && t.kind == directory, h.kind == t.kind && h.sameContent(*t):
		fetch()
	default:
		d.plan.aside = append(d.plan.aside, path)
	}
}

// block leaves a path and all below it alone.
func (d *decider) block(path, why string) {
	d.blocked, d.isBlocked = path, true
	if why != "" {
		d.plan.left = append(d.plan.left, Left{Path: path, Why: why})
	}
}

// hides notes that what is blocked keeps something of ours from arriving.
func (d *decider) reportHidden(ours *node) {
	if ours.kind == nothing || d.unknown(d.blocked) {
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
		return "it is larger than a file that is copied"
	case unreadable:
		return "it cannot be read, or has too many files"
	default: // odd: counted only
		return ""
	}
}

// fixed reports whether ours is put back: at or below a fixed path, and directories on the way
// to one.
func (d *decider) fixed(path string, h, t *node) bool {
	for _, f := range d.o.Fixed {
		if below(path, f) || h.kind == directory && t.kind != directory && below(f, path) {
			return true
		}
	}
	return false
}

// settle makes the decisions fit each other: what stays or comes needs its directory, and a
// directory that becomes something else must be empty by then.
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
		case c.to.kind == nothing: // ours below it stays, so it is made there again
			p.put = append(p.put, change{c.path, &none, c.from})
		default:
			p.aside = append(p.aside, c.path)
		}
	}
	for _, c := range put {
		switch {
		case !removesDir(c) || !containerKeeps[c.path]:
			p.put = append(p.put, c)
		case c.to.kind == nothing && comes[c.path]: // the agent's below it comes here
			p.fetch = append(p.fetch, change{c.path, &none, c.from})
		case c.to.kind == nothing: // what is in it stays there alone
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

// vanishes reports whether a directory is no longer one.
func removesDir(c change) bool { return c.from.kind == directory && c.to.kind != directory }

// holders are the directories below which something of a list stays, whatever is changed.
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

// mark marks the directories above a path.
func addParents(dirs map[string]bool, path string) {
	for dir := parent(path); dir != "" && !dirs[dir]; dir = parent(dir) {
		dirs[dir] = true
	}
}

// ways adds the directories that are not wanted themselves, on the way to what is.
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

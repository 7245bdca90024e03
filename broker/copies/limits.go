package copies

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/dirtree"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
)

// limits bound what is copied.
type limits struct {
	files int   // files, directories and links
	total int64 // bytes of all files
	each  int64 // bytes of one file
}

// standard are the limits in force. Tests lower them.
var standard = limits{files: 200_000, total: 4 << 30, each: 256 << 20}

// maxNamed is how many of the largest parts of a directory a refusal names.
const maxNamed = 3

// alternative is what a person can do when a directory is too large to be copied.
const alternative = "give the session a branch of its own with --worktree, which sends only what is committed, or work in a smaller directory"

// check fails if a directory is too large, and names its largest parts.
func (l limits) check(all []entry) error {
	var total int64
	files, bytes, large := map[string]int64{}, map[string]int64{}, map[string]int64{}
	for _, e := range all {
		top, _, _ := strings.Cut(e.path, "/")
		total += e.size
		files[top]++
		bytes[top] += e.size
		if e.size > l.each {
			large[e.path] = e.size
		}
	}
	refuse := func(why string, parts map[string]int64, say func(int64) string) error {
		return fault.New(alternative, "%s: %s", why, largest(parts, say))
	}
	switch {
	case len(large) > 0:
		return refuse("these files are larger than the limit of "+text.Size(l.each)+" for one file", large, text.Size)
	case len(all) > l.files:
		return refuse(fmt.Sprintf("it has %s files, and the limit is %s; most are in", text.Number(len(all)), text.Number(l.files)), files, func(n int64) string { return text.Number(int(n)) })
	case total > l.total:
		return refuse(fmt.Sprintf("its files have %s together, and the limit is %s; most of it is in", text.Size(total), text.Size(l.total)), bytes, text.Size)
	}
	return nil
}

// largest names the largest of some parts, each with its size.
func largest(parts map[string]int64, say func(int64) string) string {
	names := slices.SortedFunc(maps.Keys(parts), func(a, b string) int {
		return cmp.Or(cmp.Compare(parts[b], parts[a]), cmp.Compare(a, b))
	})
	var out []string
	for _, name := range names[:min(len(names), maxNamed)] {
		out = append(out, fmt.Sprintf("%s (%s)", quoted(name), say(parts[name])))
	}
	return strings.Join(out, ", ")
}

// quoted returns a path for an error: shortened, and quoted if it has unprintable characters.
func quoted(name string) string {
	if short := dirtree.Short(name); strconv.Quote(short) == `"`+short+`"` {
		return short
	}
	return strconv.Quote(dirtree.Short(name))
}

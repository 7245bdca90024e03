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

// usual are the limits. Tests lower them.
var usual = limits{files: 200_000, total: 4 << 30, each: 256 << 20}

// named is how many of the largest parts of a directory the refusal names.
const named = 3

// instead is what a person can do with a directory that is too large to be copied.
const instead = "give the session a branch of its own with --worktree, which sends only what is committed, or work in a smaller directory"

// check refuses a directory that is too large, and names what makes it so.
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
		return fault.New(instead, "%s: %s", why, largest(parts, say))
	}
	switch {
	case len(large) > 0:
		return refuse("a file may have "+text.Size(l.each)+", and these have more", large, text.Size)
	case len(all) > l.files:
		return refuse(fmt.Sprintf("it has %s files, and %s may be copied; most are in", text.Number(len(all)), text.Number(l.files)), files, func(n int64) string { return text.Number(int(n)) })
	case total > l.total:
		return refuse(fmt.Sprintf("its files have %s, and %s may be copied; most of it is in", text.Size(total), text.Size(l.total)), bytes, text.Size)
	}
	return nil
}

// largest names the largest of some parts, each with its size.
func largest(parts map[string]int64, say func(int64) string) string {
	names := slices.SortedFunc(maps.Keys(parts), func(a, b string) int {
		return cmp.Or(cmp.Compare(parts[b], parts[a]), cmp.Compare(a, b))
	})
	var out []string
	for _, name := range names[:min(len(names), named)] {
		out = append(out, fmt.Sprintf("%s (%s)", quoted(name), say(parts[name])))
	}
	return strings.Join(out, ", ")
}

// quoted returns a path for an error: shortened, and quoted if it has characters that are not
// printed as they are.
func quoted(name string) string {
	if short := dirtree.Short(name); strconv.Quote(short) == `"`+short+`"` {
		return short
	}
	return strconv.Quote(dirtree.Short(name))
}

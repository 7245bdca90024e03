package gitx

import "context"

// Bounds on the configurations of repositories that one view reads.
const (
	maxRead    = 4 << 20 // bytes
	maxEntries = 50_000  // variables
	maxRemotes = 1000    // remotes of one repository, and rules that rewrite addresses
)

// maxKept bounds what one view keeps in memory, in bytes.
const maxKept = 32 << 20

// View is what git would find during one judgment. A view reads each file once, reads a
// bounded amount, and stops when its context ends. It is not safe for concurrent use.
type View struct {
	ctx     context.Context // stored because a view lives only as long as one judgment
	around  *Surroundings
	user    *config // of the system and the user; nil until it is read
	seen    map[source]*reading
	places  map[string]*place
	read    int   // bytes of repositories' configurations
	entries int   // variables in them
	indexes int64 // bytes of indexes read
	looked  int   // names in directories of repositories
	kept    int   // bytes kept in memory
	work    int   // bytes of commands compared so far; see maxWork
}

// View starts a view of the current files. It stops reading when ctx ends.
func (s *Surroundings) View(ctx context.Context) *View {
	return &View{ctx: ctx, around: s}
}

// Open is View.Open with a view of its own.
func Open(dir string, home Home) (*Repo, error) { return newView(home).Open(dir) }

// Outside is View.Outside with a view of its own.
func Outside(home Home) (*Repo, error) { return newView(home).Outside() }

func newView(home Home) *View { return (&Surroundings{home: home}).View(context.Background()) }

// look returns what is in a file or a directory. It reads each only once.
func (v *View) look(name string, as kind) *reading {
	from := source{name, as}
	got, ok := v.seen[from]
	if ok {
		return got
	}
	if err := v.ended(); err != nil {
		return &reading{err: err}
	}
	got = v.around.look(from)
	if v.kept += got.weight() + len(name); v.kept > maxKept {
		return &reading{err: errTooMany}
	}
	if v.seen == nil {
		v.seen = map[source]*reading{}
	}
	v.seen[from] = got
	return got
}

// ended returns an error when the context has ended.
func (v *View) ended() error {
	if v.ctx.Err() != nil {
		return errEnded
	}
	return nil
}

var errEnded = refuse("the call was withdrawn before its repository was examined")

// settings reads a configuration file of a repository.
func (v *View) settings(name string) (*config, error) {
	if err := v.ended(); err != nil {
		return nil, err
	}
	data, err := readFile(name, maxConfig)
	if err != nil {
		return nil, err
	}
	c, err := parseConfig(data)
	if err != nil {
		return nil, err
	}
	v.read += len(data)
	v.entries += len(c.entries)
	if v.read > maxRead || v.entries > maxEntries {
		return nil, errSettings
	}
	return c, nil
}

var errRemotes = refuse("the repository has more remotes, or rules that rewrite addresses, than can be checked")

var errSettings = refuse("the configurations of the repository and its nested repositories are too large to check")

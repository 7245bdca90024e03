package gitx

import "context"

// Bounds of the configurations that one view reads of repositories.
const (
	maxRead    = 4 << 20 // bytes
	maxEntries = 50_000  // variables
	maxRemotes = 1000    // remotes of one repository, and rules that rewrite addresses
)

// maxKept bounds what one view keeps of what it has read, in bytes.
const maxKept = 32 << 20

// View is what git would find while one judgement lasts. What it has read it does not
// read again; what it reads is bounded, and ends with the context. It is not safe for
// concurrent use.
type View struct {
	ctx     context.Context // a view is part of one judgement and ends with it
	around  *Surroundings
	user    *config // of the system and the user, once it was read
	seen    map[source]*reading
	places  map[string]*place
	read    int   // bytes of repositories' configurations
	entries int   // variables in them
	indexes int64 // bytes of indexes looked through
	looked  int   // names in directories of repositories
	kept    int   // bytes of what was read, and of the names it has
	work    int   // of comparing with what git obeys
}

// View begins to look.
func (s *Surroundings) View(ctx context.Context) *View {
	return &View{ctx: ctx, around: s}
}

// Open is View.Open for a single repository.
func Open(dir string, home Home) (*Repo, error) { return alone(home).Open(dir) }

// Outside is View.Outside where there is no view.
func Outside(home Home) (*Repo, error) { return alone(home).Outside() }

func alone(home Home) *View { return (&Surroundings{home: home}).View(context.Background()) }

// look reads a file or a directory unless that was done before.
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

// ended is an error once the context has ended.
func (v *View) ended() error {
	if v.ctx.Err() != nil {
		return errEnded
	}
	return nil
}

var errEnded = refuse("the call was taken back before its repository was looked through")

// settings reads a configuration of a repository.
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

var errSettings = refuse("the configurations of the repository and of those in it are too large to check")

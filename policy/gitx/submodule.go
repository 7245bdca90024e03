package gitx

import "errors"

// Submodules returns the addresses that git also contacts when it fetches or pushes with
// submodules: those in the repository's configuration, and the remotes that the nested
// repositories configure themselves.
func (r *Repo) Submodules(nested []*Repo, d Direction) ([]Address, error) {
	out, err := r.appendSubmodules(nil, d)
	if err != nil {
		return nil, err
	}
	for _, n := range nested {
		if out, err = n.appendSubmodules(out, d); err != nil {
			return nil, err
		}
		for _, name := range n.own.remotes() {
			addresses, err := n.Resolve(name, d)
			if errors.Is(err, ErrUnknownRemote) {
				continue
			}
			if err != nil {
				return nil, err
			}
			out = append(out, addresses...)
		}
	}
	return out, nil
}

// appendSubmodules appends the addresses of submodules in the repository's own
// configuration.
func (r *Repo) appendSubmodules(out []Address, d Direction) ([]Address, error) {
	for _, e := range r.own.entries {
		if e.section != "submodule" || e.name != "url" {
			continue
		}
		a, err := ParseAddress(r.rewrite(e.value, d == Push))
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

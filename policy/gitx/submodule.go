package gitx

import "errors"

// Submodules returns the addresses that git contacts on its own when it fetches or
// pushes with submodules: those that the repository gives them, and the remotes of the
// repositories nested in it, whose own configuration git obeys there.
func (r *Repo) Submodules(nested []*Repo, d Direction) ([]Address, error) {
	out, err := r.given(nil, d)
	if err != nil {
		return nil, err
	}
	for _, n := range nested {
		if out, err = n.given(out, d); err != nil {
			return nil, err
		}
		for _, name := range n.own.remotes() {
			addresses, err := n.Resolve(name, d)
			var unknown *UnknownRemoteError
			if errors.As(err, &unknown) {
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

// given appends the addresses that a repository's own configuration gives to submodules.
func (r *Repo) given(out []Address, d Direction) ([]Address, error) {
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

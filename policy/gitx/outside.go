package gitx

// Outside returns a repository that is not there: only the user's own
// configuration, as git has it when it clones.
func Outside(home Home) (*Repo, error) {
	r := &Repo{}
	if err := r.readUser(home); err != nil {
		return nil, err
	}
	r.own = &config{}
	return r, nil
}

// Named reports whether a value is the name of a remote rather than an
// address.
func (r *Repo) Named(remote string) bool { return !looksLikeAddress(remote) }

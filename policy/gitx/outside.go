package gitx

// Outside returns a repository that is not there: only the user's own
// configuration, as git has it when it clones.
func (v *View) Outside() (*Repo, error) {
	user, err := v.userConfig()
	if err != nil {
		return nil, err
	}
	return &Repo{view: v, config: user, own: &config{}}, nil
}

// Named reports whether a value is the name of a remote rather than an
// address.
func (r *Repo) Named(remote string) bool { return !looksLikeAddress(remote) }

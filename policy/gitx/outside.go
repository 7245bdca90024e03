package gitx

// Outside returns a Repo with only the user's own configuration. Git uses just that when
// it clones.
func (v *View) Outside() (*Repo, error) {
	user, err := v.userConfig()
	if err != nil {
		return nil, err
	}
	return &Repo{view: v, config: user, own: &config{}}, nil
}

// Named reports whether a value is the name of a remote and not an address.
func (r *Repo) Named(remote string) bool { return !looksLikeAddress(remote) }

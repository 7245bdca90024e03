package agent

// localShell is a shell on this machine itself, with all the person's rights: no container,
// no proxies, no policy.
func localShell() Adapter {
	a := shell()
	a.Name, a.Title, a.Image = "local-shell", "Local shell, unprotected", ""
	a.Launch, a.Once, a.Answer, a.Place = nil, nil, nil, OnHost
	return a
}

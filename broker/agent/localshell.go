package agent

// localShell is a shell of this machine itself, with everything the person may
// do: no container, no proxies, no policy. The session that runs it needs
// nothing of what a container has.
func localShell() Adapter {
	a := shell()
	a.Name, a.Title, a.Image = "local-shell", "Local shell, unprotected", ""
	a.Launch, a.Once, a.Answer, a.Place = nil, nil, nil, OnHost
	return a
}

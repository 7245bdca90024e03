package mcpproxy

import "sync"

// Known is what servers offer, as they said when they were first started. Proxies
// that share one start a server only when a call needs it, and stop it when none
// has for a while: a server takes a second or two to start and a hundred megabytes
// while it waits. It is for proxies whose servers of one name are the same program.
// The zero value knows nothing; a nil one learns nothing either.
type Known struct {
	mu    sync.Mutex
	tools map[string][]tool // by the server's name
}

// of returns what a server offers; nil when that is not known.
func (k *Known) of(server string) []tool {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tools[server]
}

// learn notes what a server offers. The first answer stays: one that differs later
// is a changed definition, for every session.
func (k *Known) learn(server string, tools []tool) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tools == nil {
		k.tools = make(map[string][]tool)
	}
	if k.tools[server] == nil {
		k.tools[server] = tools
	}
}

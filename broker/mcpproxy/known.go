package mcpproxy

import "sync"

// Known holds the tools that servers offered at their first start. Proxies that share one
// start a server only when a call needs it, and stop it when no call has for a while. A
// server takes a second or two to start, and a hundred megabytes while it is idle. All
// servers of one name must be the same program. The zero value is empty; a nil *Known stays
// empty.
type Known struct {
	mu    sync.Mutex
	tools map[string][]tool // by the server's name
}

// of returns the tools of a server, or nil when they are not known.
func (k *Known) of(server string) []tool {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tools[server]
}

// learn notes the tools of a server. It keeps the first list, so that a later difference is
// a changed definition for every session.
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

package bridge

import (
	"encoding/json"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonrpc"
)

// Messages between the host and the bridge, in addition to MCP.
const (
	notifyWaiting = "notifications/ironcurtain/waiting" // from the host: a call waits for a person
	notifyUnbegun = "notifications/ironcurtain/unbegun" // from the host: nothing of a call is done yet
	notifyBegun   = "notifications/ironcurtain/begun"   // from the host: the call has begun
	methodResume  = "ironcurtain/resume"                // to the next host: continue this call
)

// keepTicket notes the ticket of a call that waits for a person. The agent is not told.
func (m *mcp) keepTicket(id, ticket string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.open {
		if m.open[i].id == id {
			m.open[i].ticket = ticket
		}
	}
}

// noteBegun notes whether the host has begun a call. One that it has not is sent to the next host.
func (m *mcp) noteBegun(id string, begun bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.open {
		if m.open[i].id == id {
			m.open[i].unbegun = !begun
		}
	}
}

// resumption returns the request that offers a waiting call to the next host, with the call's own id.
// It is not a tool call, so a host that does not know the ticket carries nothing out.
func resumption(it item) item {
	var message struct {
		Params json.RawMessage `json:"params"`
	}
	_ = json.Unmarshal(it.line, &message) // well formed, because a host has accepted it
	params := compose(map[string]any{"ticket": it.ticket, "call": message.Params})
	it.line = jsonrpc.Request(json.RawMessage(it.id), methodResume, params)
	it.method = methodResume
	return it
}

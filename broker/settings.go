package broker

import (
	"context"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/mcpproxy"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/session"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/policy"
)

// settings are what sessions without a profile are opened with. A session keeps them.
type settings struct {
	config  *Config
	policy  atomic.Pointer[policy.Files]       // in force; empty: that of config
	servers atomic.Pointer[session.OwnServers] // the person's own; empty: those of config
	tools   *mcpproxy.Known                    // the servers' tools, known once a session has started the servers
}

// newSettings returns the settings of a configuration.
func (b *Broker) newSettings(c *Config) *settings {
	return &settings{config: c, tools: mcpproxy.KnownIn(filepath.Join(c.Home, "tools"), b.log)}
}

// Reload reads the configuration again, for sessions that open from now on. After an error the
// former configuration stays in use.
func (b *Broker) Reload(context.Context) error {
	b.applying.Lock()
	defer b.applying.Unlock()
	return b.reload()
}

// Refresh is Reload if config.json was changed since it was read.
func (b *Broker) Refresh(context.Context) error {
	b.applying.Lock()
	defer b.applying.Unlock()
	if b.config.Reload == nil || sameState(b.read, stateOf(b.config.ConfigFile)) {
		return nil
	}
	return b.reload()
}

// reload is Reload. The caller holds the mutex applying.
func (b *Broker) reload() error {
	const op = "read config.json again"
	if b.config.Reload == nil {
		return fault.New("start it again", op+": this process reads it only once")
	}
	read := stateOf(b.config.ConfigFile)
	c, err := b.config.Reload()
	if err != nil {
		return fault.Wrap(op, err, "")
	}
	b.mu.Lock()
	open := slices.Clone(b.sessions)
	b.mu.Unlock()
	for _, s := range open {
		for _, path := range c.PolicyFiles {
			if s.AgentCanChange(path) {
				return fault.New("keep the policy in another directory", "%s: the agent of session %s can change %s, a file of the policy", op, s.ShortID(), path)
			}
		}
	}
	b.mu.Lock()
	b.review = nil // it was compared with the former configuration
	b.mu.Unlock()
	b.former = append(b.former, b.settings.Load())
	b.settings.Store(b.newSettings(&c))
	b.read = read
	return nil
}

// Outdated returns a text that says that new sessions get the former configuration, because Refresh
// failed. It also shows the text in the open views, unless they have shown it for this state of
// config.json.
func (b *Broker) Outdated(err error) string {
	said := err.Error() + "; the former settings stay in use"
	if hint := fault.Hint(err); hint != "" {
		said += "; " + hint
	}
	b.tellRefused(said)
	return said
}

// tellRefused says in the open views that config.json is refused, once for each state of the file.
// A view that starts later finds out by itself.
func (b *Broker) tellRefused(text string) {
	now := stateOf(b.config.ConfigFile)
	b.mu.Lock()
	told := b.refused != nil && sameState(b.refused, now)
	b.refused = now
	b.mu.Unlock()
	if !told {
		b.hub.tell(Event{Kind: EventNotice, Notice: &Notice{Urgent: true, Text: text}})
	}
}

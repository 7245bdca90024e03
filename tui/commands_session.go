package tui

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// runServers is /servers: it lists the tool servers of this tab, adds one, starts one again,
// or turns one off.
func (m *Model) runServers(args string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("that could have servers")
	}
	id := t.session.ID
	words, err := input.Words(args)
	switch {
	case err != nil:
		return nil, fmt.Errorf("/servers: %w", err)
	case len(words) == 0:
		list := func(ctx context.Context) ([]broker.ServerStatus, error) {
			servers, err := m.api.Servers(ctx, id)
			return servers, fault.Wrap("list servers", err, "")
		}
		return request(m, list, func(servers []broker.ServerStatus) { m.showHelp("servers", panel.ServerLines(servers)) }), nil
	case len(words) > 2 && words[0] == "add":
		name := words[1]
		return m.carryOut(fmt.Sprintf("server %s is in config.json and starts in this tab; each of its calls asks", text.Drawable(name)), func(ctx context.Context) error {
			return m.api.AddServer(ctx, id, name, words[2:])
		}), nil
	case len(words) == 2 && (words[0] == "restart" || words[0] == "disable"):
		off, name := words[0] == "disable", text.Drawable(words[1])
		done := "server " + name + " is started again; /servers shows it"
		if off {
			done = "server " + name + " is off in this tab; /servers restart " + name + " turns it on"
		}
		return m.carryOut(done, func(ctx context.Context) error { return m.api.TurnServer(ctx, id, words[1], off) }), nil
	}
	return nil, fault.New("/servers alone lists them", "/servers %s: takes nothing, restart or disable and a name, or add, a name, and a command or an address", args)
}

// runRegistries is /registries: it lists the package registries of this tab and what they delivered,
// or lets a denied version ask again.
func (m *Model) runRegistries(args string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("that could have package registries")
	}
	id, words := t.session.ID, strings.Fields(args)
	switch {
	case len(words) == 0:
		list := func(ctx context.Context) (broker.Registries, error) {
			registries, err := m.api.Registries(ctx, id)
			return registries, fault.Wrap("list registries", err, "")
		}
		return request(m, list, func(all broker.Registries) { m.showHelp("registries", panel.RegistryLines(all)) }), nil
	case len(words) == 2 && words[0] == "release" && m.mayOperate():
		return m.carryOut(text.Drawable(words[1])+" asks again when the agent requests it", func(ctx context.Context) error {
			return m.api.ReleasePackage(ctx, id, words[1])
		}), nil
	case words[0] == "release" && !m.mayOperate():
		return nil, errReadOnly("/registries release")
	}
	return nil, fault.New("/registries alone lists them", "/registries %s: takes nothing, or release and a version that was denied", args)
}

// runPolicy is /policy reload and /policy apply.
func (m *Model) runPolicy(args string) (tea.Cmd, error) {
	switch args {
	case "reload":
		m.reviewed = ""
		return request(m, m.api.ReviewPolicy, m.showReview), nil
	case "apply":
		hash := m.reviewed
		if hash == "" {
			return nil, fault.New("/policy reload shows it first", "/policy apply: there is no new policy to apply, because none was shown")
		}
		m.reviewed = ""
		apply := func(ctx context.Context) (int, error) { return m.api.ApplyPolicy(ctx, hash) }
		return request(m, apply, func(sessions int) {
			m.showSuccess("the new policy is in force for " + view.Counted(sessions, "session") + ", and for each new one")
		}), nil
	}
	return nil, fmt.Errorf("%s: takes reload, and then apply", typed("policy", args))
}

// showReview shows what a policy that was read again would change.
func (m *Model) showReview(review broker.PolicyReview) {
	if len(review.Difference) == 0 {
		m.reviewed = ""
		m.showSuccess("the policy was read again: nothing has changed")
		return
	}
	m.reviewed = review.Hash
	m.showHelp("policy", panel.PolicyLines(review))
}

// runPort is /port [N [HOST]|--to HOST [N]|close N].
func (m *Model) runPort(args string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("that could have ports")
	}
	words := strings.Fields(args)
	if len(words) == 0 {
		open := t.session.Ports
		if open == "" {
			open = "none; /port 3000 opens one"
		}
		m.showInfo("open ports: " + open)
		return nil, nil
	}
	closing, out := words[0] == "close", words[0] == "--to"
	if closing || out {
		words = words[1:]
	}
	var numbers []int
	for i, word := range words {
		if host, port, named := strings.Cut(word, ":"); out && i == 0 && named {
			if host != "localhost" && host != "127.0.0.1" {
				return nil, fault.New("/port --to localhost:5432 names a port of this machine", "/port %s: only ports of this machine can be reached", args)
			}
			word = port
		}
		n, err := strconv.ParseUint(word, 10, 16)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("/port %s: takes numbers from 1 to 65535", args)
		}
		numbers = append(numbers, int(n))
	}
	id := t.session.ID
	switch {
	case closing && len(numbers) == 1:
		return m.carryOut(fmt.Sprintf("port %d is closed", numbers[0]), func(ctx context.Context) error {
			return m.api.ClosePort(ctx, id, numbers[0])
		}), nil
	case out && (len(numbers) == 1 || len(numbers) == 2):
		p := broker.Port{Container: numbers[len(numbers)-1], Host: numbers[0], Out: true}
		return m.carryOut(fmt.Sprintf("programs in the container reach port %d of this machine at their localhost:%d", p.Host, p.Container), func(ctx context.Context) error {
			return m.api.OpenPort(ctx, id, p)
		}), nil
	case !closing && !out && len(numbers) <= 2:
		p := broker.Port{Container: numbers[0], Host: numbers[len(numbers)-1]}
		return m.carryOut(fmt.Sprintf("port %d of the container is open at http://localhost:%d, for every program of this machine", p.Container, p.Host), func(ctx context.Context) error {
			return m.api.OpenPort(ctx, id, p)
		}), nil
	}
	return nil, fmt.Errorf("/port %s: takes a port and perhaps another one for this machine, --to and a port of this machine, or close and a port", args)
}

// runQuit is /quit.
func (m *Model) runQuit(args string) (tea.Cmd, error) {
	n := m.running()
	if n == 0 {
		return m.runQuitNow(args)
	}
	what := "an agent runs"
	if n > 1 {
		what = fmt.Sprintf("%d agents run", n)
	}
	if m.o.Others != nil {
		switch n := m.o.Others(); n {
		case 0:
		case 1:
			what += ", and another terminal shows it"
		default:
			what += fmt.Sprintf(", and %d other terminals show it", n)
		}
	}
	m.ask(what+m.approvals.LostText("")+": end all and quit?", func(m *Model) tea.Cmd {
		m.quitting = true
		return tea.Quit
	})
	return nil, nil
}

// runDetach is /detach.
func (m *Model) runDetach(string) (tea.Cmd, error) {
	m.detached = true
	return tea.Quit, nil
}

// runQuitNow is /quit!.
func (m *Model) runQuitNow(string) (tea.Cmd, error) {
	m.quitting = true
	return tea.Quit, nil
}

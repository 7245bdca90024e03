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
)

// runPort is /port [N [HOST]|close N].
func (m *Model) runPort(args string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, fault.New("/new opens one", "there is no tab that could have ports")
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
	closing := words[0] == "close"
	if closing {
		words = words[1:]
	}
	var numbers []int
	for _, word := range words {
		n, err := strconv.ParseUint(word, 10, 16)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("/port %s: takes numbers from 1 to 65535", text.Drawable(args))
		}
		numbers = append(numbers, int(n))
	}
	id := t.session.ID
	switch {
	case closing && len(numbers) == 1:
		return m.do(func(ctx context.Context) tea.Msg {
			return carriedMsg{fmt.Sprintf("port %d is closed", numbers[0]), m.api.ClosePort(ctx, id, numbers[0])}
		}), nil
	case !closing && len(numbers) <= 2:
		p := broker.Port{Container: numbers[0], Host: numbers[len(numbers)-1]}
		return m.do(func(ctx context.Context) tea.Msg {
			return carriedMsg{fmt.Sprintf("port %d of the container is open at http://localhost:%d, for every program of this machine", p.Container, p.Host), m.api.OpenPort(ctx, id, p)}
		}), nil
	}
	return nil, fmt.Errorf("/port %s: takes a port, another one for this machine, or close and a port", text.Drawable(args))
}

// onCarried shows how a command that carries something between host and container ended.
func (m *Model) onCarried(msg carriedMsg) {
	if msg.err != nil {
		m.showError(msg.err)
		return
	}
	m.showSuccess(msg.done)
}

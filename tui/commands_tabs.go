package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// runNew is /new [agent] [[--workspace] dir] [--worktree|--no-worktree] [--policy dir]
// [-- prompt], or with --repo URL [--branch B] in place of a directory. Without any of these it opens
// another tab like the one in front.
func (m *Model) runNew(args string) (tea.Cmd, error) {
	o := tabRequest{agent: m.o.Agent, profile: m.o.Profile, line: m.executed, prompt: input.PromptOf(m.executed)}
	if t := m.current(); t != nil {
		o.profile = t.session.Profile
	}
	args, _, _ = strings.Cut(" "+args+" ", " -- ")
	if t := m.current(); t != nil && strings.TrimSpace(args) == "" {
		like := anotherLike(t)
		like.line, like.prompt = o.line, o.prompt
		return m.open(like), nil
	}
	args, o.worktree = cutWorktree(args + " ")
	var err error
	for _, option := range []struct {
		name  string
		value *string
	}{{"--repo", &o.repo}, {"--branch", &o.branch}, {"--policy", &o.policy}} {
		if args, *option.value, err = cutValue(args, option.name); err != nil {
			return nil, err
		}
	}
	if o.policy, err = input.Absolute(m.o.Dir, o.policy); err != nil {
		return nil, err
	}
	dir := strings.TrimSpace(args)
	if word, rest, _ := strings.Cut(dir, " "); m.agentMeant(word) != "" {
		o.agent, dir = m.agentMeant(word), strings.TrimSpace(rest)
	} else if dir != "" && !strings.ContainsAny(dir, "/~.") && !strings.HasPrefix(dir, "--") {
		return nil, fmt.Errorf("/new %s: no such agent; there are: %s; a directory is written with a slash%s", word, strings.Join(m.agentNames(), ", "), text.DidYouMean(word, m.agentNames()))
	}
	if rest, ok := strings.CutPrefix(dir, "--workspace"); ok && (rest == "" || rest[0] == ' ' || rest[0] == '=') {
		if dir = strings.Trim(rest, "= "); dir == "" {
			return nil, errors.New("/new --workspace: takes a directory")
		}
	}
	if strings.HasPrefix(dir, "--") {
		flag, _, _ := strings.Cut(dir, " ")
		return nil, fmt.Errorf("/new %s: takes an agent, --workspace DIR, --worktree, --repo URL, --branch B, --policy DIR, and after -- the first prompt%s", dir,
			text.DidYouMean(flag, []string{"--workspace", "--worktree", "--no-worktree", "--repo", "--branch", "--policy"}))
	}
	if o.worktree == broker.WorktreeYes && dir == "" {
		dir = "."
	}
	if o.workspace, err = input.Absolute(m.o.Dir, input.Unquote(dir)); err != nil {
		return nil, err
	}
	return m.open(o), nil
}

// cutWorktree removes --worktree or --no-worktree from the arguments of /new and returns
// the choice. The arguments begin and end with a space.
func cutWorktree(args string) (string, broker.WorktreeChoice) {
	for word, choice := range map[string]broker.WorktreeChoice{
		" --worktree ": broker.WorktreeYes, " --no-worktree ": broker.WorktreeNo,
	} {
		if before, after, ok := strings.Cut(args, word); ok {
			return before + " " + after, choice
		}
	}
	return args, broker.WorktreeAsConfigured
}

// cutValue removes an option and its value from the arguments of /new, which begin and end
// with a space.
func cutValue(args, option string) (rest, value string, err error) {
	for _, between := range []string{" ", "="} {
		before, after, ok := strings.Cut(args, " "+option+between)
		if !ok {
			continue
		}
		value, after, _ = strings.Cut(strings.TrimLeft(after, " "), " ")
		if value == "" || strings.HasPrefix(value, "--") {
			return args, "", fmt.Errorf("/new %s: has no value", option)
		}
		return before + " " + after, value, nil
	}
	return args, "", nil
}

// agentMeant returns the name of the agent with this name or, when exactly one agent's name begins
// with the word, that name; empty: none. Until the broker has listed the agents, it returns any
// plain word, and the broker then refuses a word that is not an agent.
func (m *Model) agentMeant(word string) string {
	if word == "" || strings.ContainsAny(word, "/~.") || strings.HasPrefix(word, "-") {
		return ""
	}
	if len(m.agents) == 0 {
		return word
	}
	var begin []string
	for _, a := range m.agents {
		if a.Name == word {
			return word
		}
		if strings.HasPrefix(a.Name, word) {
			begin = append(begin, a.Name)
		}
	}
	if len(begin) == 1 {
		return begin[0]
	}
	return ""
}

func (m *Model) agentNames() (names []string) {
	for _, a := range m.agents {
		names = append(names, a.Name)
	}
	return names
}

// runRestart is /restart: it starts the same agent on the same workspace in a new session, whose tab
// replaces this tab. It asks first while the agent runs.
func (m *Model) runRestart(string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("to restart")
	}
	if !t.running() {
		return m.restart(t), nil
	}
	id := t.session.ID
	m.ask(fmt.Sprintf("end %s%s, and start it again?", t.name(), m.approvals.LostText(id)), func(m *Model) tea.Cmd {
		if t := m.tabOf(id); t != nil {
			return m.restart(t)
		}
		return nil
	})
	return nil, nil
}

// restart requests a session like that of a tab. The tab of the new session replaces the tab.
func (m *Model) restart(t *tab) tea.Cmd {
	o := requestLike(t)
	o.replace = t.session.ID
	return m.open(o)
}

// requestLike returns a request for a session with the agent, workspace, policy and profile of a tab.
// If the tab has a worktree or a clone, the session gets another one of the same repository.
func requestLike(t *tab) tabRequest {
	o := tabRequest{agent: t.session.Agent, workspace: t.session.Place(), worktree: broker.WorktreeNo, policy: t.session.Policy, profile: t.session.Profile}
	if tree := t.session.Worktree; tree != nil && tree.Cloned {
		o.workspace, o.worktree, o.repo, o.branch = "", broker.WorktreeAsConfigured, tree.Repository, tree.Branch
	} else if tree != nil {
		o.workspace, o.worktree = tree.Repository, broker.WorktreeYes
	}
	return o
}

// anotherLike returns a request for a second session like that of a tab. If the tab's workspace is its
// own, the session gets another one.
func anotherLike(t *tab) tabRequest {
	o := requestLike(t)
	if t.session.Private() || o.workspace == "" && o.repo == "" {
		o.workspace, o.worktree = "", broker.WorktreeAsConfigured
	}
	return o
}

// runYes is /yes: it accepts the toolchains that the broker has offered for this tab's workspace, and
// starts the tab's agent again.
func (m *Model) runYes(string) (tea.Cmd, error) { return m.answerOffer(true) }

// runNo is /no.
func (m *Model) runNo(string) (tea.Cmd, error) { return m.answerOffer(false) }

func (m *Model) answerOffer(yes bool) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("in which anything was offered")
	}
	id := t.session.ID
	answer := func(ctx context.Context) (bool, error) { return yes, m.api.AnswerOffer(ctx, id, yes) }
	return request(m, answer, func(yes bool) {
		if !yes {
			m.showInfo("the toolchains are not offered for this workspace again; /yes still accepts them")
		} else if t := m.tabOf(id); t != nil {
			m.later = join(m.later, m.restart(t))
		}
	}), nil
}

// runClose is /close [N|NAME]. When a tab is named, it asks even if no agent runs there: the number may
// have become that of another tab while the person typed it.
func (m *Model) runClose(args string) (tea.Cmd, error) {
	t := m.current()
	if args != "" {
		var err error
		if t, err = m.findTab(args); err != nil {
			return nil, err
		}
	}
	if t == nil {
		return nil, errNoTab("to close")
	}
	if args == "" && !t.running() {
		return m.closeTab(t), nil
	}
	id := t.session.ID
	m.ask(fmt.Sprintf("end %s%s?", t.name(), m.approvals.LostText(id)), func(m *Model) tea.Cmd {
		if t := m.tabOf(id); t != nil {
			return m.closeTab(t)
		}
		return nil
	})
	return nil, nil
}

// ask asks a question; yes runs when the person presses y.
func (m *Model) ask(text string, yes func(m *Model) tea.Cmd) {
	m.question, m.dirty = &question{text, yes}, true
}

// runTab is /tab N or /tab NAME.
func (m *Model) runTab(args string) (tea.Cmd, error) {
	if args == "" {
		return nil, errors.New("/tab: takes the number or the name of a tab")
	}
	t, err := m.findTab(args)
	if err != nil {
		return nil, err
	}
	m.show(m.indexOf(t.session.ID))
	return nil, nil
}

func (m *Model) runNext(string) (tea.Cmd, error) { m.step(1); return nil, nil }

func (m *Model) runPrev(string) (tea.Cmd, error) { m.step(-1); return nil, nil }

// runLast is /last.
func (m *Model) runLast(string) (tea.Cmd, error) {
	i := m.indexOf(m.previous)
	if i < 0 {
		return nil, errors.New("no other tab was in front before")
	}
	m.show(i)
	return nil, nil
}

// runMove is /move N: it moves the tab to a place in the bar, in every view.
func (m *Model) runMove(args string) (tea.Cmd, error) {
	n, ok := input.Number(args)
	t := m.current()
	if !ok || t == nil || n > len(m.tabs) {
		return nil, fmt.Errorf("%s: takes a place from 1 to %d", typed("move", args), len(m.tabs))
	}
	id := t.session.ID
	return m.carryOut("", func(ctx context.Context) error {
		return m.api.Move(ctx, id, n)
	}), nil
}

// runRename is /rename NAME.
func (m *Model) runRename(args string) (tea.Cmd, error) {
	t := m.current()
	if t == nil {
		return nil, errNoTab("to rename")
	}
	id := t.session.ID
	return m.carryOut("", func(ctx context.Context) error {
		return m.api.Rename(ctx, id, args)
	}), nil
}

// runMute is /mute [all].
func (m *Model) runMute(args string) (tea.Cmd, error) {
	t := m.current()
	defer func() { m.o.Arranged(m.arrangement()) }()
	if args == "all" {
		if m.muted = !m.muted; m.muted {
			m.showInfo("bell and notifications are off for all tabs")
		} else {
			m.showInfo("bell and notifications are on again, except for muted tabs")
		}
		return nil, nil
	}
	if args != "" {
		return nil, fmt.Errorf("/mute %s: takes all, or nothing for this tab", args)
	}
	if t == nil {
		return nil, errNoTab("to mute")
	}
	t.muted = !t.muted
	if t.muted {
		m.showInfo(fmt.Sprintf("bell and notifications of %s are off", t.name()))
	} else {
		m.showInfo(fmt.Sprintf("bell and notifications of %s are on again", t.name()))
	}
	return nil, nil
}

// runTheme is /theme NAME.
func (m *Model) runTheme(args string) (tea.Cmd, error) {
	if args == "" {
		return nil, fmt.Errorf("/theme: takes one of %s", strings.Join(view.ThemeNames(), ", "))
	}
	theme, err := view.ThemeByName(args)
	if err != nil {
		return nil, err
	}
	m.theme, m.o.FollowTheme, m.dirty = theme, false, true
	return nil, nil
}

// closeTab removes a tab at once, and ends its session.
func (m *Model) closeTab(t *tab) tea.Cmd {
	return join(m.removeTab(t), m.endSession(t.session.ID))
}

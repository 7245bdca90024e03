package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/menu"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/panel"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// command is one slash command of the multiplexer. The table of commands is the only place
// that knows their names; parsing, completion and the help screen read it.
type command struct {
	name string
	args string // as the help screen shows them: "[N|all]"
	help string
	run  func(m *Model, args string) (tea.Cmd, error)
}

// usage is how the command is typed.
func (c command) usage() string { return strings.TrimSpace("/" + c.name + " " + c.args) }

// commandTable lists the commands in the order the help screen shows them.
func commandTable() []command {
	return []command{
		{"approve", "[N|all]", "approve the call shown, call N once it is shown, or all calls that were shown in full", (*Model).runApprove},
		{"approve+", "[N] [SCOPE [TIME]]", "approve, and remember it for later calls in SCOPE; without a scope, list the scopes", (*Model).runApprovePlus},
		{"deny", "[N|all] [reason]", "refuse the call; the agent is told the reason", (*Model).runDeny},
		{"new", "[AGENT] [--workspace DIR] [--worktree] [--repo URL [--branch B]] [--policy DIR] [-- prompt]", "open a tab like this one, with its agent and directory, or with a directory of its own if this tab has one; with an agent or an option, in a fresh directory unless you name one; --worktree: on a branch of its own; --repo: in a clone of that repository; --policy: under a stricter policy; the prompt is sent as your words once the agent is ready", (*Model).runNew},
		{"resume", "[ID]", "continue an earlier session, chosen from a list or by the start of its id", (*Model).runResume},
		{"diff", "", "what has changed in this tab's workspace since its start", (*Model).runDiff},
		{"land", "[--ignored|now]", "on an engine that does not see your files, show what this tab's agent has changed in its copy of your directory; --ignored: also what git ignores; now: write into the directory what was shown", (*Model).runLand},
		{"log", "", "how this tab's agent was started, with all output of its image's builder", (*Model).runLog},
		{"restart", "", "start this tab's agent again, in the same workspace; asks first while it runs", (*Model).runRestart},
		{"yes", "", "accept the toolchains that this tab offers for its workspace, and start its agent again with them", (*Model).runYes},
		{"no", "", "decline these toolchains; they are not offered for this workspace again", (*Model).runNo},
		{"close", "[N|NAME]", "end this tab's agent and close the tab; asks first while the agent runs, and whenever you name a tab", (*Model).runClose},
		{"tab", "N|NAME", "show that tab; N is its place in the bar", (*Model).runTab},
		{"next", "", "show the next tab", (*Model).runNext},
		{"prev", "", "show the previous tab", (*Model).runPrev},
		{"last", "", "show the tab shown before", (*Model).runLast},
		{"move", "N", "move this tab to place N of the bar, in every terminal", (*Model).runMove},
		{"rename", "NAME", "give this tab a name", (*Model).runRename},
		{"split", "[right|down] [N]", "divide this pane, and show tab N on the right or below, even if it is in another group; without N, the next tab that is shown alone, or else a new tab like this one", (*Model).runSplit},
		{"unsplit", "", "show each tab of this group alone again", (*Model).runUnsplit},
		{"break", "", "take this pane out of its group, and show its tab alone", (*Model).runBreak},
		{"swap", "[left|right|up|down|next|prev|N]", "swap this pane with the pane on that side, or with tab N", (*Model).runSwap},
		{"resize", "left|right|up|down [N]", "move this pane's border by N cells; the mouse drags borders, too", (*Model).runResize},
		{"layout", "[even|even-down|main|tiled]", "arrange the panes side by side, one below the other, one beside all others, or in rows and columns; without a word, the next of these", (*Model).runLayout},
		{"zoom", "", "show the focused pane alone, or all panes again", (*Model).runZoom},
		{"fit", "", "make this tab as small as its part of this window, until somebody uses it in another terminal or you leave; asks first", (*Model).runFit},
		{"pan", "[left|right|up|down]", "show another part of a tab that is too large for this window; without a direction, follow the cursor", (*Model).runPan},
		{"focus", "[left|right|up|down|next|prev]", "go to the pane on that side; without a word, to the next one", (*Model).runFocus},
		{"copy", "", "copy mode: move, search and copy in the scrollback", (*Model).runCopy},
		{"clipboard", "[ID|NAME]", "allow the copy to the clipboard that the program of this tab, or of that session, asks for", (*Model).runClipboard},
		{"edit", "", "open this tab's scrollback in $VISUAL or $EDITOR", (*Model).runEdit},
		{"budget", "[+5|+200k tokens|+50 requests|+30m]", "the usage of the models; with an amount, let this tab use more", (*Model).runBudget},
		{"done", "", "what was approved automatically in this tab, and what it did", (*Model).runDone},
		{"history", "[again [N]]", "the latest decisions, and who made them; again: tell the agent of the expired call N to make the call again", (*Model).runHistory},
		{"policy", "reload|apply", "reload: read the policy again and show what would change; apply: put what was shown in force for every tab", (*Model).runPolicy},
		{"servers", "[add NAME COMMAND...|restart NAME|disable NAME]", "the tool servers of this tab and their tools; add one by its command or https address, start one again, or turn one off in this tab", (*Model).runServers},
		{"registries", "[release NAME]", "the package registries of this tab, and what was delivered, hidden and refused; release: let a version that you denied ask again", (*Model).runRegistries},
		{"port", "[N [HOST]|--to HOST [N]|close N]", "open port N of this tab's container as localhost:N of this machine, or as port HOST; --to lets the container reach port HOST of this machine; without a number, list the open ports", (*Model).runPort},
		{"attach", "[FILE...]", "copy files of this machine to where this tab's agent can read them, and type the paths of the copies; without a file, the picture in the clipboard", (*Model).runAttach},
		{"save", "[-f] PATH [DEST]", "copy a file of the agent's home or workspace to this machine; -f replaces a file", (*Model).runSave},
		{"grants", "", "the approvals that are remembered, and what is left of them", (*Model).runGrants},
		{"revoke", "N|all", "end a grant", (*Model).runRevoke},
		{"forget", "", "stop what you typed last in this tab from approving more calls", (*Model).runForget},
		{"theme", "NAME", "set the colors: dark, light, 16 or none", (*Model).runTheme},
		{"prefix", "[KEY|none]", "set a prefix key like tmux's, such as ctrl+b; without a key, list what can follow it", (*Model).runPrefix},
		{"mute", "[all]", "turn bell and notifications off for this tab or all, or on again", (*Model).runMute},
		{"help", "[TOPIC]", "keys and commands; with a topic or a command, the part about it", (*Model).runHelp},
		{"detach", "", "leave; the agents keep running, and 'ironcurtain-mux' shows them again", (*Model).runDetach},
		{"quit", "", "end all agents and leave; asks while agents run", (*Model).runQuit},
		{"quit!", "", "end all agents and leave, without asking", (*Model).runQuitNow},
	}
}

// lookUpCommand finds a command by its name; "rules" is an alias of "grants".
func lookUpCommand(name string) (command, bool) {
	if name == "rules" {
		name = "grants"
	}
	for _, c := range commandTable() {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// typed returns a command and its arguments as the person typed them, for an error.
func typed(name, args string) string {
	return strings.TrimSpace("/" + name + " " + args)
}

// unknownCommand is the error of a command that does not exist; it proposes others.
func unknownCommand(name string) error {
	var names []string
	for _, c := range commandTable() {
		names = append(names, "/"+c.name)
	}
	if near := text.DidYouMean("/"+name, names); near != "" {
		return fmt.Errorf("/%s: no such command%s", name, near)
	}
	return fmt.Errorf("/%s: no such command, /help lists them; //%s sends it to the agent", name, name)
}

// menuState is the state of the menu above the command line: the entries that were looked up outside of
// the event loop, and which entry is chosen.
type menuState struct {
	source menu.Source
	found  []menu.Entry
	known  bool   // found is complete
	wanted bool   // Tab was pressed before found was complete
	before string // the text before the cursor when an entry was chosen or Tab was pressed
	word   string // the chosen entry, as long as before is the text before the cursor
}

// beforeCursor returns the command on the command line, up to the cursor; empty: the line has no
// command but text for the agent, which may be long.
func (m *Model) beforeCursor() string {
	if !m.line.IsCommand() {
		return ""
	}
	return input.TextOf(m.line.Pieces[:m.line.Cursor])
}

// offered returns the word at the cursor of the command line, and what it can become.
func (m *Model) offered() (menu.Place, []menu.Entry, bool) {
	p, ok := menu.At(m.beforeCursor())
	if !ok {
		return p, nil, false
	}
	if p.Names {
		return p, menu.Match(p.Word, commandEntries()), true
	}
	entries, more := m.arguments(p)
	if more == m.menuState.source {
		entries = append(entries, m.menuState.found...)
	}
	return p, menu.Match(p.Word, entries), true
}

// arguments returns the known entries for a word, and the source of further ones for the tab in front.
func (m *Model) arguments(p menu.Place) ([]menu.Entry, menu.Source) {
	entries, more := p.Arguments(m.nameable(p.Command))
	if t := m.current(); t != nil && more.Kind != menu.Nothing {
		more.Session = t.session.ID
	}
	return entries, more
}

// menu returns the entries of the menu above the command line, and which one is chosen; -1: none. A
// line of the history has no menu until it is changed or Tab is pressed.
func (m *Model) menu() (all []menu.Entry, chosen int) {
	if m.mode != modeCommand || m.question != nil || m.line.Searching() || m.line.Recalled() && m.menuState.before != m.beforeCursor() {
		return nil, -1
	}
	_, all, _ = m.offered()
	if m.menuState.word == "" || m.menuState.before != m.beforeCursor() {
		return all, -1
	}
	return all, slices.IndexFunc(all, func(e menu.Entry) bool { return e.Word == m.menuState.word })
}

// choose chooses the entry of the menu that is n places further; after the last comes the first.
func (m *Model) choose(n int) {
	all, chosen := m.menu()
	if chosen < 0 && n < 0 {
		chosen = 0
	}
	if len(all) > 0 {
		m.menuState.before, m.menuState.word = m.beforeCursor(), all[(chosen+n+len(all))%len(all)].Word
	}
}

// take puts an entry of the menu on the line. It runs nothing.
func (m *Model) take(p menu.Place, e menu.Entry) {
	word := e.Word
	if !e.Open {
		word += " "
	}
	if !m.line.Replace(p.Word, word) {
		m.showError(errors.New("the line is full"))
	}
}

// complete handles Tab: it completes the word before the cursor as far as only one completion is
// possible, else chooses the next entry of the menu. If an entry is chosen, it puts that on the line.
func (m *Model) complete() {
	p, found, ok := m.offered()
	all, chosen := m.menu()
	_, more := m.arguments(p)
	e, sure := menu.Complete(p.Word, found)
	m.dirty = true
	switch {
	case !ok:
	case !p.Names && more.Kind != menu.Nothing && (more != m.menuState.source || !m.menuState.known):
		m.menuState.before, m.menuState.wanted = m.beforeCursor(), true
	case len(found) == 0 && p.Word == "":
		m.showError(errors.New("there is nothing to complete here"))
	case len(found) == 0:
		m.showError(fmt.Errorf("nothing begins with %q", p.Word))
	case chosen >= 0:
		m.take(p, all[chosen])
	case sure:
		m.take(p, e)
	default:
		m.menuState.before = m.beforeCursor()
		m.choose(1)
		if at := m.menuRect(); at.H < min(2, len(found)) {
			m.showEntries(found)
		}
	}
}

// showEntries lists entries in the status line, when the menu has no room for them.
func (m *Model) showEntries(found []menu.Entry) {
	var words []string
	for _, e := range found {
		words = append(words, e.Shown())
	}
	m.showInfo(strings.Join(words, " "))
}

// commandEntries returns all commands as entries of the menu.
func commandEntries() []menu.Entry {
	var out []menu.Entry
	for _, c := range commandTable() {
		out = append(out, menu.Entry{Word: c.name, Usage: c.usage(), About: c.help})
	}
	return out
}

// nameable returns what the arguments of a command can name.
func (m *Model) nameable(name string) menu.Known {
	c, _ := lookUpCommand(name)
	k := menu.Known{Usage: c.args, Scopes: m.scopeEntries}
	if c.name == "help" {
		k.Topics = helpTopics()
	}
	for _, a := range m.agents {
		k.Agents = append(k.Agents, menu.Entry{Word: a.Name, About: text.Drawable(a.Title)})
	}
	for i, t := range m.tabs {
		title := text.Drawable(t.title())
		about := title + ", " + t.session.StateWords()
		if t == m.current() {
			about += ", this one"
		}
		var names []string
		if title == t.title() {
			names = []string{title}
		}
		k.Tabs = append(k.Tabs, menu.Entry{Word: strconv.Itoa(i + 1), About: about, Names: names})
		if t.held != nil && m.now().Before(t.held.until) {
			k.Copies = append(k.Copies, menu.Entry{Word: t.shortID(), About: about, Names: names})
		}
	}
	for _, it := range m.approvals.Items {
		e := it.Call
		about := text.Drawable(e.Server+"/"+e.Tool) + ", " + m.sessionLabel(e.Session)
		k.Calls = append(k.Calls, menu.Entry{Word: strconv.Itoa(e.Number), About: about})
	}
	for _, s := range m.approvals.Log {
		if s.Outcome == broker.Expired {
			k.Expired = append(k.Expired, menu.Entry{Word: strconv.Itoa(s.Number), About: panel.ResolutionText(s.Resolution, m.o.Client)})
		}
	}
	for _, name := range view.ThemeNames() {
		k.Themes = append(k.Themes, menu.Entry{Word: name, About: view.AboutTheme(name)})
	}
	return k
}

// scopeEntries returns the scopes of the call with a number, or else of the call shown. It returns none
// before /approve+ has requested them.
func (m *Model) scopeEntries(number string) (out []menu.Entry) {
	it := m.approvals.Current()
	if n, is := input.Number(number); is {
		it = m.approvals.Numbered(n)
	}
	if it == nil {
		return nil
	}
	for _, s := range it.Scopes {
		out = append(out, menu.Entry{Word: text.Drawable(s.Name), About: text.Drawable(s.Text)})
	}
	return out
}

// lookFor looks up what the word at the cursor can become, outside of the event loop, unless that was
// done before.
func (m *Model) lookFor() tea.Cmd {
	var source menu.Source
	if m.mode == modeCommand {
		if p, ok := menu.At(m.beforeCursor()); ok && !p.Names {
			_, source = m.arguments(p)
		}
	}
	if source == m.menuState.source {
		return nil
	}
	m.menuState = menuState{source: source}
	if source.Kind == menu.Nothing {
		return nil
	}
	look := menu.LookUp{API: m.api, Dir: m.o.Dir, Now: m.now()}
	if t := m.current(); t != nil {
		look.Workspace = t.session.Workspace
	}
	for _, t := range m.tabs {
		if !t.dead() {
			look.Running = append(look.Running, t.session.ID)
		}
	}
	return m.do(func(ctx context.Context) tea.Msg { return foundMsg{source, look.Find(ctx, source)} })
}

// onFound shows the entries that were looked up, unless the word at the cursor now needs others.
func (m *Model) onFound(msg foundMsg) {
	if msg.source != m.menuState.source {
		return
	}
	wanted := m.menuState.wanted && m.menuState.before == m.beforeCursor()
	m.menuState, m.dirty = menuState{source: msg.source, found: msg.found, known: true}, true
	if wanted && m.mode == modeCommand {
		m.complete()
	}
}

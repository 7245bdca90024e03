package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/text"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/layout"
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
		{"deny", "[N|all] [reason]", "refuse it; the agent is told the reason", (*Model).runDeny},
		{"new", "[agent] [--workspace DIR] [--worktree] [--repo URL [--branch B]] [--policy DIR] [-- prompt]", "open a tab like this one, with its agent and in its directory, or in one of its own where this tab has that; with an agent or an option, in a fresh directory unless one is named, with --worktree on a branch of its own, with --repo in a clone of that repository, with --policy under a stricter policy; the prompt is sent as your words once the agent is ready", (*Model).runNew},
		{"resume", "[ID]", "continue an earlier session, chosen from a list or by the start of its id", (*Model).runResume},
		{"diff", "", "what has changed in this tab's workspace since its start", (*Model).runDiff},
		{"log", "", "how this tab's agent was started, with all that the builder of its image said", (*Model).runLog},
		{"restart", "", "start this tab's agent again, in the same place; asks while it runs", (*Model).runRestart},
		{"yes", "", "take the toolchains that this tab offers for its workspace, and start its agent again with them", (*Model).runYes},
		{"no", "", "leave them out; they are not offered for this workspace again", (*Model).runNo},
		{"close", "[N|NAME]", "end this tab's agent and close the tab; asks while it runs, and for a tab that is not in front", (*Model).runClose},
		{"tab", "N|NAME", "show that tab; N is its place in the bar", (*Model).runTab},
		{"next", "", "show the next tab", (*Model).runNext},
		{"prev", "", "show the previous tab", (*Model).runPrev},
		{"last", "", "show the tab shown before", (*Model).runLast},
		{"move", "N", "move this tab to place N of the bar, in every terminal", (*Model).runMove},
		{"rename", "NAME", "give this tab a name", (*Model).runRename},
		{"split", "[right|down] [N]", "divide this pane, and let tab N join it on the right or below, wherever that is shown now; without N, the next tab that is shown alone, or else a new one like this", (*Model).runSplit},
		{"unsplit", "", "show one tab only: each pane is a tab of its own again", (*Model).runUnsplit},
		{"break", "", "take this pane out, and show its tab alone", (*Model).runBreak},
		{"swap", "[left|right|up|down|next|prev|N]", "change the places of this pane and of the one there, or of tab N", (*Model).runSwap},
		{"resize", "left|right|up|down [N]", "move this pane's border by N cells; the mouse drags borders, too", (*Model).runResize},
		{"layout", "[even|even-down|main|tiled]", "arrange the panes side by side, one below the other, one beside all others, or in rows and columns; without a word, the next of these", (*Model).runLayout},
		{"zoom", "", "show the focused pane alone, or all again", (*Model).runZoom},
		{"fit", "", "make this tab as small as its part of this window, until somebody uses it elsewhere or you leave; asks first", (*Model).runFit},
		{"pan", "[left|right|up|down]", "show another part of a tab that is too large for this window; without a direction, follow the cursor", (*Model).runPan},
		{"focus", "[left|right|up|down|next|prev]", "go to the pane there; without a word, to the next one", (*Model).runFocus},
		{"copy", "", "copy mode: move, search and copy in the scrollback", (*Model).runCopy},
		{"clipboard", "[ID|NAME]", "allow the copy to the clipboard that the program of this tab, or of that session, asks for", (*Model).runClipboard},
		{"edit", "", "open this tab's scrollback in $VISUAL or $EDITOR", (*Model).runEdit},
		{"budget", "[+5|+200k tokens|+50 requests|+30m]", "what was used of the models; with an amount, let this tab use more", (*Model).runBudget},
		{"done", "", "what was approved automatically in this tab, and what it did", (*Model).runDone},
		{"history", "[again [N]]", "what was decided lately, and by whom; again tells the agent of call N, which has expired, to make it once more", (*Model).runHistory},
		{"policy", "reload|apply", "read the policy again and show what would change; apply puts what was shown in force for every tab", (*Model).runPolicy},
		{"servers", "[add NAME COMMAND...|restart NAME|disable NAME]", "the tool servers of this tab and their tools; add one by its command or https address, start one again, or turn one off in this tab", (*Model).runServers},
		{"registries", "[release NAME]", "the package registries of this tab, and what was delivered, hidden and refused; release lets a version that you denied ask again", (*Model).runRegistries},
		{"port", "[N [HOST]|--to HOST [N]|close N]", "open port N of this tab's container as localhost:N of this machine, or as port HOST; --to lets the container reach port HOST of this machine; without a number, list the open ports", (*Model).runPort},
		{"attach", "[FILE...]", "copy files of this machine to where this tab's agent can read them, and type the paths of the copies; without a file, the picture in the clipboard", (*Model).runAttach},
		{"save", "[-f] PATH [DEST]", "copy a file of the agent's home or workspace to this machine; -f replaces a file", (*Model).runSave},
		{"grants", "", "the approvals that are remembered, and what is left of them", (*Model).runGrants},
		{"revoke", "N|all", "end a grant", (*Model).runRevoke},
		{"forget", "", "stop what you typed last in this tab from approving more calls", (*Model).runForget},
		{"theme", "NAME", "dark, light, 16 or none", (*Model).runTheme},
		{"prefix", "[KEY|none]", "a prefix key like tmux's, such as ctrl+b; alone, what follows it", (*Model).runPrefix},
		{"mute", "[all]", "turn bell and notifications off for this tab or all, or on again", (*Model).runMute},
		{"help", "", "keys and commands", (*Model).runHelp},
		{"detach", "", "leave, and let the agents run; 'ironcurtain-mux' shows them again", (*Model).runDetach},
		{"quit", "", "end all agents and leave; asks while agents run", (*Model).runQuit},
		{"quit!", "", "the same without asking", (*Model).runQuitNow},
	}
}

// lookUpCommand finds a command by its name, or by the former name "rules" of grants.
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

// unknownCommand is the error of a command that does not exist; it proposes others.
func unknownCommand(name string) error {
	if near := input.Completions(name, commandNames()); len(near) > 0 {
		return fmt.Errorf("/%s: no such command, did you mean /%s?", text.Drawable(name), strings.Join(near, ", /"))
	}
	return fmt.Errorf("/%s: no such command, /help lists them; //%s sends it to the agent", text.Drawable(name), text.Drawable(name))
}

func commandNames() []string {
	var out []string
	for _, c := range commandTable() {
		out = append(out, c.name)
	}
	return out
}

// complete completes the word before the cursor: a command, or an argument of
// one. Directories are read outside the event loop.
func (m *Model) complete() tea.Cmd {
	text := input.TextOf(m.line.Pieces[:m.line.Cursor])
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return nil
	}
	command, word, hasArgs := strings.Cut(text[1:], " ")
	command = strings.ToLower(command)
	if !hasArgs {
		m.completed(completedMsg{text, command, input.Completions(command, commandNames())})
		return nil
	}
	if command == "new" && strings.Contains(word, "-- ") {
		return nil // a prompt is not completed
	}
	if i := strings.LastIndexByte(word, ' '); i >= 0 {
		word = word[i+1:]
	}
	if command == "resume" {
		return m.do(func(ctx context.Context) tea.Msg {
			stored, _ := m.api.Stored(ctx) // on an error there is nothing to complete
			var ids []string
			for _, s := range stored {
				if id := broker.ShortID(s.ID); !s.Ephemeral && strings.HasPrefix(id, word) {
					ids = append(ids, id) // the list shows the short id
				} else if !s.Ephemeral {
					ids = append(ids, s.ID)
				}
			}
			return completedMsg{text, word, input.Completions(word, ids)}
		})
	}
	if command == "attach" {
		return m.do(func(context.Context) tea.Msg {
			return completedMsg{text, word, input.Completions(word, input.Files(m.o.Dir, word))}
		})
	}
	candidates := m.argumentsOf(command)
	if command != "new" || !strings.ContainsAny(word, "/~") {
		m.completed(completedMsg{text, word, input.Completions(word, candidates)})
		return nil
	}
	return m.do(func(context.Context) tea.Msg {
		return completedMsg{text, word, input.Completions(word, input.Directories(m.o.Dir, word))}
	})
}

// completed completes the word on the line, unless the line was changed meanwhile. When
// several words fit, the status line lists them.
func (m *Model) completed(msg completedMsg) {
	if input.TextOf(m.line.Pieces[:m.line.Cursor]) != msg.before {
		return
	}
	m.dirty, m.answering = true, true
	defer func() { m.answering = false }()
	switch prefix := input.CommonPrefix(msg.found); {
	case len(msg.found) == 0 && msg.stem == "":
		m.showError(errors.New("there is nothing to complete here"))
	case len(msg.found) == 0:
		m.showError(fmt.Errorf("nothing begins with %q", text.Drawable(msg.stem)))
	case len(msg.found) == 1:
		end := " "
		if strings.HasSuffix(prefix, "/") {
			end = ""
		}
		m.line.Complete(prefix[len(msg.stem):] + end)
	case len(prefix) > len(msg.stem):
		m.line.Complete(prefix[len(msg.stem):])
	default:
		m.showInfo(text.Drawable(strings.Join(msg.found, " ")))
	}
}

// argumentsOf returns the words that may follow a command.
func (m *Model) argumentsOf(command string) []string {
	var out []string
	switch command {
	case "tab", "close", "split":
		out = m.tabWords()
		if command == "split" {
			out = append(out, "right", "down")
		}
	case "approve", "deny":
		for _, it := range m.approvals.Items {
			out = append(out, fmt.Sprint(it.Call.Number))
		}
		out = append(out, "all")
	case "pan", "resize":
		return layout.Sides
	case "focus", "swap":
		out = append(slices.Clone(layout.Sides), "next", "prev")
		if command == "swap" {
			out = append(out, m.tabWords()...)
		}
	case "layout":
		return layout.Names
	case "mute":
		return []string{"all"}
	case "theme":
		return view.ThemeNames()
	case "new":
		for _, a := range m.agents {
			out = append(out, a.Name)
		}
		out = append(out, "--workspace", "--worktree", "--no-worktree", "--repo", "--branch", "--policy")
	}
	return out
}

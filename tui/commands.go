package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ironcurtain-mux/ironcurtain-mux/tui/input"
	"github.com/ironcurtain-mux/ironcurtain-mux/tui/view"
)

// command is one slash command of the multiplexer. The table of all of them is
// the only place that knows their names: parsing, completion and the help
// screen are made from it.
type command struct {
	name string
	args string // for people: "[N|all]"
	help string
	run  func(m *Model, args string) (tea.Cmd, error)
}

// commandTable lists the commands in the order the help screen shows them.
func commandTable() []command {
	return []command{
		{"approve", "[N|all]", "let the call shown, call N once it is shown, or all calls looked at in full go on", (*Model).runApprove},
		{"approve+", "[N] [SCOPE [TIME]]", "the same, and remember it: without a scope it shows what for", (*Model).runApprovePlus},
		{"deny", "[N|all] [reason]", "refuse it; the agent is told the reason", (*Model).runDeny},
		{"new", "[agent] [--workspace DIR] [--worktree] [-- prompt]", "open a tab, in a fresh directory unless one is named, with --worktree on a branch of its own; the prompt is sent as your words once the agent is ready", (*Model).runNew},
		{"resume", "[ID]", "continue an earlier session, chosen from a list or by the start of its id", (*Model).runResume},
		{"diff", "", "what has changed in this tab's workspace since its start", (*Model).runDiff},
		{"log", "", "how this tab's agent was started, with all that the builder of its image said", (*Model).runLog},
		{"restart", "", "begin this tab's agent anew, in its place; asks while it runs", (*Model).runRestart},
		{"close", "[N|NAME]", "end this tab's agent and close the tab", (*Model).runClose},
		{"tab", "N|NAME", "show that tab", (*Model).runTab},
		{"next", "", "show the next tab", (*Model).runNext},
		{"prev", "", "show the previous tab", (*Model).runPrev},
		{"last", "", "show the tab shown before", (*Model).runLast},
		{"move", "N", "move this tab to place N of the bar", (*Model).runMove},
		{"rename", "NAME", "give this tab a name", (*Model).runRename},
		{"split", "[right|down] [N]", "show a second tab beside or below", (*Model).runSplit},
		{"unsplit", "", "show one tab only", (*Model).runUnsplit},
		{"zoom", "", "show the focused pane alone, or all again", (*Model).runZoom},
		{"focus", "", "go to the next pane of a split", (*Model).runFocus},
		{"copy", "", "copy mode: move, search and copy in the scrollback", (*Model).runCopy},
		{"clipboard", "[N|NAME]", "let this tab's program copy what it asked to copy unprompted", (*Model).runClipboard},
		{"edit", "", "open this tab's scrollback in $VISUAL or $EDITOR", (*Model).runEdit},
		{"budget", "[+5|+200k tokens|+50 requests|+30m]", "what was used of the models; with an amount, let this tab use more", (*Model).runBudget},
		{"undo", "", "what was approved automatically in this tab, and what it did", (*Model).runUndo},
		{"history", "", "what was decided lately, and by whom", (*Model).runHistory},
		{"grants", "", "the approvals that are remembered, and what is left of them", (*Model).runGrants},
		{"revoke", "N|all", "end a grant", (*Model).runRevoke},
		{"forget", "", "drop what your last words to this tab may still approve", (*Model).runForget},
		{"theme", "NAME", "dark, light, 16 or none", (*Model).runTheme},
		{"mute", "[all]", "no bell and no notifications for this tab or all, or again", (*Model).runMute},
		{"help", "", "keys and commands", (*Model).runHelp},
		{"quit", "", "end all agents and leave; asks while agents run", (*Model).runQuit},
		{"quit!", "", "the same without asking", (*Model).runQuitNow},
	}
}

// lookUpCommand finds a command by its name, or by the one that it once had.
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

// unknownCommand says what is valid instead.
func unknownCommand(name string) error {
	if near := input.Completions(name, commandNames()); len(near) > 0 {
		return fmt.Errorf("/%s: no such command, did you mean /%s?", view.Sanitize(name), strings.Join(near, ", /"))
	}
	return fmt.Errorf("/%s: no such command, /help lists them; //%s sends it to the agent", view.Sanitize(name), view.Sanitize(name))
}

func commandNames() []string {
	var out []string
	for _, c := range commandTable() {
		out = append(out, c.name)
	}
	return out
}

package input

import (
	"slices"
	"strings"
)

// keyTable returns all bindings with their default keys, in the order of the help
// screen. An empty prefix means that there is no prefix key.
func keyTable(commandKey, prefix string) []Binding {
	return slices.Concat(
		terminalBindings(commandKey),
		focusBindings(),
		prefixBindings(prefix),
		paneBindings(),
		[]Binding{{PlaceStarting, ActLog, keyed("show or close the log of the start", "ctrl+l")}},
		commandBindings(commandKey),
		emptyLineBindings(),
		panelBindings(),
		decideBindings(),
		menuBindings(),
		searchBindings(),
		copyBindings(commandKey),
		questionBindings(),
		hereBindings(),
		pickerBindings(commandKey),
		helpBindings(commandKey),
	)
}

// terminalBindings are the keys while an agent has the keyboard. Actions without a key
// are there to be bound in config.json.
func terminalBindings(commandKey string) []Binding {
	return []Binding{
		{PlaceTerminal, ActCommand, keyed("open the command line and the approval panel", commandKey)},
		{PlaceTerminal, ActTab, keyed("show that tab", altDigits()...)},
		{PlaceTerminal, "next", keyed("next tab")},
		{PlaceTerminal, "prev", keyed("previous tab")},
		{PlaceTerminal, "last", keyed("the tab shown before")},
		{PlaceTerminal, "new", keyed("open a tab")},
		{PlaceTerminal, "focus", keyed("next pane")},
		{PlaceTerminal, "zoom", keyed("show the focused pane alone, or all again")},
		{PlaceTerminal, ActPanLeft, keyed("show more on the left of a larger tab")},
		{PlaceTerminal, ActPanRight, keyed("show more on its right")},
		{PlaceTerminal, ActPanUp, keyed("show more above")},
		{PlaceTerminal, ActPanDown, keyed("show more below")},
		{PlaceTerminal, "copy", keyed("copy mode")},
		{PlaceTerminal, "edit", keyed("open the scrollback in your editor")},
		{PlaceTerminal, "detach", keyed("leave, and let the agents run")},
	}
}

// beginning is the prefix of the names of actions that put a command on the command line, whose
// arguments the person then types.
const beginning = "begin "

// Begins returns the command that an action puts on the command line.
func Begins(a Action) (command string, ok bool) { return strings.CutPrefix(string(a), beginning) }

// prefixBindings are the keys that may follow a prefix key, for people who are used to
// tmux. There is no prefix key unless the options name one.
func prefixBindings(prefix string) []Binding {
	var prefixes []string
	if prefix != "" {
		prefixes = []string{prefix}
	}
	return []Binding{
		{PlaceTerminal, ActPrefix, keyed("wait for one of the keys below", prefixes...)},
		{PlacePrefix, ActPrefix, keyed("send the key itself to the agent", prefixes...)},
		{PlacePrefix, "new", keyed("open a tab", "c")},
		{PlacePrefix, "next", keyed("next tab", "n")},
		{PlacePrefix, "prev", keyed("previous tab", "p")},
		{PlacePrefix, "last", keyed("the tab shown before", "l")},
		{PlacePrefix, beginning + "rename", keyed("give the tab a name", ",")},
		{PlacePrefix, beginning + "move", keyed("move the tab to another place of the bar", ".")},
		{PlacePrefix, beginning + "tab", keyed("choose a tab by its number or name", "w", "'")},
		{PlacePrefix, "resume", keyed("choose a session", "s")},
		{PlacePrefix, "close", keyed("close the tab, also as a pane; asks while its agent runs", "x", "&")},
		{PlacePrefix, "detach", keyed("leave, and let the agents run", "d")},
		{PlacePrefix, "split right", keyed("split side by side", "%")},
		{PlacePrefix, "split down", keyed("split one below the other", `"`)},
		{PlacePrefix, "focus", keyed("next pane", "o")},
		{PlacePrefix, "zoom", keyed("show the focused pane alone, or all again", "z")},
		{PlacePrefix, ActPanLeft, keyed("show more on the left of a larger tab", "shift+left")},
		{PlacePrefix, ActPanRight, keyed("show more on its right", "shift+right")},
		{PlacePrefix, ActPanUp, keyed("show more above", "shift+up")},
		{PlacePrefix, ActPanDown, keyed("show more below", "shift+down")},
		{PlacePrefix, "copy", keyed("copy mode", "[", "pgup")},
		{PlacePrefix, ActPaste, keyed("paste what copy mode copied last", "]")},
		{PlacePrefix, "edit", keyed("open the scrollback in your editor", "e")},
		{PlacePrefix, "help", keyed("keys and commands", "?")},
		{PlacePrefix, ActCommand, keyed("open the command line", ":")},
		{PlacePrefix, ActTab, keyed("show that tab", "1", "2", "3", "4", "5", "6", "7", "8", "9", "0")},
	}
}

// focusBindings go from pane to pane without the prefix. They have no default keys.
func focusBindings() []Binding {
	return []Binding{
		{PlaceTerminal, "focus left", keyed("go to the pane on the left")},
		{PlaceTerminal, "focus right", keyed("go to the pane on the right")},
		{PlaceTerminal, "focus up", keyed("go to the pane above")},
		{PlaceTerminal, "focus down", keyed("go to the pane below")},
	}
}

// paneBindings are the keys for panes that may follow the prefix, as in tmux.
func paneBindings() []Binding {
	return []Binding{
		{PlacePrefix, "focus left", keyed("go to the pane on the left", "left")},
		{PlacePrefix, "focus right", keyed("go to the pane on the right", "right")},
		{PlacePrefix, "focus up", keyed("go to the pane above", "up")},
		{PlacePrefix, "focus down", keyed("go to the pane below", "down")},
		{PlacePrefix, "resize left", keyed("move the pane's border left; for half a second also without the prefix", "ctrl+left")},
		{PlacePrefix, "resize right", keyed("move the pane's border right", "ctrl+right")},
		{PlacePrefix, "resize up", keyed("move the pane's border up", "ctrl+up")},
		{PlacePrefix, "resize down", keyed("move the pane's border down", "ctrl+down")},
		{PlacePrefix, "resize left 5", keyed("move it left by five cells", "alt+left")},
		{PlacePrefix, "resize right 5", keyed("move it right by five cells", "alt+right")},
		{PlacePrefix, "resize up 5", keyed("move it up by five cells", "alt+up")},
		{PlacePrefix, "resize down 5", keyed("move it down by five cells", "alt+down")},
		{PlacePrefix, "swap prev", keyed("swap with the previous pane", "{")},
		{PlacePrefix, "swap next", keyed("swap with the next pane", "}")},
		{PlacePrefix, "break", keyed("take the pane out, and show its tab alone", "!")},
		{PlacePrefix, "layout", keyed("arrange the panes in the next layout", "space")},
	}
}

// commandBindings are the keys of the command line.
func commandBindings(commandKey string) []Binding {
	return []Binding{
		{PlaceCommand, ActLiteral, keyed("close, and send the key itself to the agent", commandKey)},
		{PlaceCommand, ActLeave, keyed("close, keeping what is typed", "esc")},
		{PlaceCommand, ActEnter, keyed("run the command or send the text; on an empty line go back", "enter")},
		{PlaceCommand, actNewline, keyed("a new line in the text", "alt+enter", "shift+enter", "ctrl+j")},
		{PlaceCommand, ActComplete, keyed("complete the word as far as it is unambiguous, then insert the menu's choice", "tab")},
		{PlaceCommand, ActSearch, keyed("search the history", "ctrl+r")},
		{PlaceCommand, actLeft, keyed("one character left", "left", "ctrl+b")},
		{PlaceCommand, actRight, keyed("one character right", "right", "ctrl+f")},
		{PlaceCommand, actWordLeft, keyed("one word left", "alt+b", "ctrl+left", "alt+left")},
		{PlaceCommand, actWordRight, keyed("one word right", "alt+f", "ctrl+right", "alt+right")},
		{PlaceCommand, actHome, keyed("start of the line", "home")},
		{PlaceCommand, actEnd, keyed("end of the line", "end", "ctrl+e")},
		{PlaceCommand, ActBackspace, keyed("delete to the left", "backspace", "ctrl+h")},
		{PlaceCommand, actDelete, keyed("delete to the right", "delete", "ctrl+d")},
		{PlaceCommand, actKillWord, keyed("delete the word to the left", "ctrl+w", "alt+backspace")},
		{PlaceCommand, actKillStart, keyed("delete to the start", "ctrl+u")},
		{PlaceCommand, actKillEnd, keyed("delete to the end", "ctrl+k")},
		{PlaceCommand, actClear, keyed("delete all", "ctrl+c")},
		{PlaceCommand, actUndo, keyed("undo", "ctrl+_", "ctrl+z", "ctrl+/")},
		{PlaceCommand, actOlder, keyed("older line", "up", "ctrl+p")},
		{PlaceCommand, actNewer, keyed("newer line", "down", "ctrl+n")},
		{PlaceCommand, ActTab, keyed("show that tab", altDigits()...)},
	}
}

// emptyLineBindings are the keys that do something else while the command line is empty.
func emptyLineBindings() []Binding {
	return []Binding{
		{PlaceEmpty, ActLeave, keyed("close", "ctrl+c")},
		{PlaceEmpty, ActPrevTab, keyed("previous tab", "left")},
		{PlaceEmpty, ActNextTab, keyed("next tab", "right")},
		{PlaceEmpty, ActPanLeft, keyed("show more on the left of a larger tab", "shift+left")},
		{PlaceEmpty, ActPanRight, keyed("show more on its right", "shift+right")},
		{PlaceEmpty, ActPanUp, keyed("show more above", "shift+up")},
		{PlaceEmpty, ActPanDown, keyed("show more below", "shift+down")},
		{PlaceEmpty, ActCopyMode, keyed("copy mode", "pgup", "[")},
		{PlaceEmpty, ActKeys, keyed("keys and commands", "?")},
		{PlaceEmpty, ActTakePrefix, keyed("take the prefix key that the first start offers", "ctrl+b")},
		{PlaceEmpty, ActEndTour, keyed("end the tour of the first start", "ctrl+x")},
	}
}

// panelBindings are the keys that move through the approval panel.
func panelBindings() []Binding {
	return []Binding{
		{PlacePanel, ActPanelDown, keyed("one line down (on an empty line)", "down")},
		{PlacePanel, ActPanelUp, keyed("one line up (on an empty line)", "up")},
		{PlacePanel, ActPanelPage, keyed("next page; after the last page, rows not shown yet, then the top", "pgdown")},
		{PlacePanel, ActPanelPageUp, keyed("previous page", "shift+pgup", "pgup")},
		{PlacePanel, ActPanelTop, keyed("first row (on an empty line)", "home")},
		{PlacePanel, ActPanelEnd, keyed("last row (on an empty line); rows jumped over count as not shown", "end")},
		{PlacePanel, ActPanelNext, keyed("let one key decide the call shown (on an empty line); again: next call", "tab")},
		{PlacePanel, ActPanelPrev, keyed("previous call", "shift+tab")},
		{PlacePanel, ActPanelTab, keyed("show the tab of the call", "ctrl+t")},
	}
}

// decideBindings decide the call that the person has gone to in the panel. Enter has no default: it
// decides what was chosen.
func decideBindings() []Binding {
	return []Binding{
		{PlaceDecide, ActApprove, keyed("approve the call, once it was shown in full", "y")},
		{PlaceDecide, ActDeny, keyed("deny it", "n")},
		{PlaceDecide, ActChooseYes, keyed("choose to approve it", "left")},
		{PlaceDecide, ActChooseNo, keyed("choose to deny it", "right")},
		{PlaceDecide, ActDecide, keyed("do what is chosen", "enter")},
	}
}

// menuBindings are the keys of the menu above the command line.
func menuBindings() []Binding {
	return []Binding{
		{PlaceMenu, ActMenuDown, keyed("choose the next entry; Enter puts it on the line", "down")},
		{PlaceMenu, ActMenuUp, keyed("choose the previous entry", "up")},
	}
}

// searchBindings are the keys while the history of the command line is searched. Any other editing
// key ends the search and edits the line that was found.
func searchBindings() []Binding {
	return []Binding{
		{PlaceSearch, actSearchOlder, keyed("an older line", "ctrl+r", "up")},
		{PlaceSearch, actSearchNewer, keyed("a newer line", "ctrl+s", "down")},
		{PlaceSearch, actSearchRun, keyed("run or send the line", "enter")},
		{PlaceSearch, actSearchTake, keyed("take the line, to edit it", "tab", "right")},
		{PlaceSearch, actSearchBack, keyed("back to what was typed", "esc", "ctrl+g", "ctrl+c")},
	}
}

// copyBindings are the keys of copy mode, the same as in vi.
func copyBindings(commandKey string) []Binding {
	return []Binding{
		{PlaceCopy, ActLeave, keyed("leave (Enter copies a selection first)", "q", "esc", "ctrl+c", "enter", commandKey)},
		{PlaceCopy, ActCopyLeft, keyed("left", "h", "left")},
		{PlaceCopy, ActCopyDown, keyed("down", "j", "down")},
		{PlaceCopy, ActCopyUp, keyed("up", "k", "up")},
		{PlaceCopy, ActCopyRight, keyed("right", "l", "right")},
		{PlaceCopy, ActCopyWord, keyed("next word", "w")},
		{PlaceCopy, ActCopyBack, keyed("previous word", "b")},
		{PlaceCopy, ActCopyWordEnd, keyed("end of the word", "e")},
		{PlaceCopy, ActCopyStart, keyed("start of the line", "0", "home")},
		{PlaceCopy, ActCopyFirst, keyed("first letter of the line", "^")},
		{PlaceCopy, ActCopyLineEnd, keyed("end of the line", "$", "end")},
		{PlaceCopy, ActCopyTop, keyed("first line of the scrollback", "g")},
		{PlaceCopy, ActCopyBottom, keyed("last line", "G")},
		{PlaceCopy, ActCopyPageUp, keyed("a page up", "pgup", "ctrl+b")},
		{PlaceCopy, ActCopyPageDn, keyed("a page down", "pgdown", "ctrl+f")},
		{PlaceCopy, ActCopyHalfUp, keyed("half a page up", "ctrl+u")},
		{PlaceCopy, ActCopyHalfDn, keyed("half a page down", "ctrl+d")},
		{PlaceCopy, ActCopySelect, keyed("start or drop a selection", "v", "space")},
		{PlaceCopy, ActCopyLines, keyed("select whole lines", "V")},
		{PlaceCopy, ActCopyBlock, keyed("select a rectangle", "ctrl+v", "R")},
		{PlaceCopy, ActCopyMark, keyed("set the mark", "X")},
		{PlaceCopy, ActCopyToMark, keyed("go to the mark, and set it where the cursor was", "alt+x")},
		{PlaceCopy, ActCopySwap, keyed("go to the other end of the selection", "o")},
		{PlaceCopy, ActCopyYank, keyed("copy the selection to the clipboard", "y")},
		{PlaceCopy, ActCopyEdit, keyed("open the scrollback in your editor", "E")},
		{PlaceCopy, ActCopySearch, keyed("search forward", "/")},
		{PlaceCopy, ActCopySearchB, keyed("search backward", "?")},
		{PlaceCopy, ActCopyNext, keyed("next match", "n")},
		{PlaceCopy, ActCopyPrev, keyed("previous match", "N")},
		{PlaceCopy, ActCopyPrompt, keyed("next prompt of a shell that marks them", "}")},
		{PlaceCopy, ActCopyPromptB, keyed("previous prompt", "{")},
	}
}

// questionBindings answer a question. Only y says yes.
func questionBindings() []Binding {
	return []Binding{
		{PlaceQuestion, ActYes, keyed("yes", "y")},
		{PlaceQuestion, ActNo, keyed("no", "n", "esc", "enter", "ctrl+c")},
	}
}

// hereBindings answer whether to work in a project.
func hereBindings() []Binding {
	return []Binding{
		{PlaceHere, ActYes, keyed("work in it", "y")},
		{PlaceHere, ActHereWorktree, keyed("work on a branch of its own", "w")},
		{PlaceHere, ActNo, keyed("work in an empty directory", "n")},
		{PlaceHere, ActLeave, keyed("an empty directory, and ask again next time", "esc", "ctrl+c")},
	}
}

// pickerBindings are the keys in the list of sessions.
func pickerBindings(commandKey string) []Binding {
	return []Binding{
		{PlacePicker, ActPickDown, keyed("down", "down", "j", "ctrl+n")},
		{PlacePicker, ActPickUp, keyed("up", "up", "k", "ctrl+p")},
		{PlacePicker, ActPickPage, keyed("a page down", "pgdown", "space")},
		{PlacePicker, ActPickPageUp, keyed("a page up", "pgup")},
		{PlacePicker, ActPick, keyed("continue that session in a tab", "enter")},
		{PlacePicker, ActPickAll, keyed("take back all agents that were left running", "a")},
		{PlacePicker, ActPickEnd, keyed("end an agent that was left running", "x")},
		{PlacePicker, ActLeave, keyed("close", "esc", "q", "ctrl+c", commandKey)},
	}
}

// helpBindings are the keys in the help screen.
func helpBindings(commandKey string) []Binding {
	return []Binding{
		{PlaceHelp, ActHelpDown, keyed("down", "down", "j")},
		{PlaceHelp, ActHelpUp, keyed("up", "up", "k")},
		{PlaceHelp, ActHelpPage, keyed("a page down", "pgdown", "space")},
		{PlaceHelp, ActHelpPageUp, keyed("a page up", "pgup")},
		{PlaceHelp, ActHelpSearch, keyed("search", "/")},
		{PlaceHelp, ActHelpNext, keyed("next match", "n")},
		{PlaceHelp, ActHelpPrev, keyed("previous match", "N")},
		{PlaceHelp, ActLeave, keyed("close; Esc ends a search first", "q", "esc", "enter", "?", "ctrl+c", commandKey)},
	}
}

// altDigits are the keys that show a tab by its number.
func altDigits() []string {
	return strings.Fields("alt+1 alt+2 alt+3 alt+4 alt+5 alt+6 alt+7 alt+8 alt+9")
}

package tui

import (
	"slices"
	"strings"
)

// keyTable is the registry of all keys with those that nobody has changed, in the
// order of the help screen. An empty prefix is none.
func keyTable(commandKey, prefix string) []binding {
	return slices.Concat(
		terminalBindings(commandKey),
		prefixBindings(prefix),
		[]binding{{placeStarting, actLog, keyed("show the log of its start, or close it", "ctrl+l")}},
		commandBindings(commandKey),
		emptyLineBindings(),
		panelBindings(),
		copyBindings(commandKey),
		questionBindings(),
		pickerBindings(commandKey),
		helpBindings(commandKey),
	)
}

// terminalBindings are the keys while an agent has the keyboard. What has none is
// for config.json to bind.
func terminalBindings(commandKey string) []binding {
	return []binding{
		{placeTerminal, actCommand, keyed("open the command line and the approval panel", commandKey)},
		{placeTerminal, actTab, keyed("show that tab", altDigits()...)},
		{placeTerminal, "next", keyed("next tab")},
		{placeTerminal, "prev", keyed("previous tab")},
		{placeTerminal, "last", keyed("the tab shown before")},
		{placeTerminal, "new", keyed("open a tab")},
		{placeTerminal, "focus", keyed("next pane of the split")},
		{placeTerminal, "zoom", keyed("show the focused pane alone, or all again")},
		{placeTerminal, "copy", keyed("copy mode")},
		{placeTerminal, "edit", keyed("open the scrollback in your editor")},
	}
}

// commandBindings are the keys of the command line.
func commandBindings(commandKey string) []binding {
	return []binding{
		{placeCommand, actLiteral, keyed("close, and send the key itself to the agent", commandKey)},
		{placeCommand, actLeave, keyed("close, keeping what is typed", "esc")},
		{placeCommand, actEnter, keyed("run the command or send the text; on an empty line go back", "enter")},
		{placeCommand, actNewline, keyed("a new line in the text", "alt+enter", "shift+enter", "ctrl+j")},
		{placeCommand, actComplete, keyed("complete the command, tab, agent or path", "tab")},
		{placeCommand, actLeft, keyed("one character left", "left", "ctrl+b")},
		{placeCommand, actRight, keyed("one character right", "right", "ctrl+f")},
		{placeCommand, actWordLeft, keyed("one word left", "alt+b", "ctrl+left", "alt+left")},
		{placeCommand, actWordRight, keyed("one word right", "alt+f", "ctrl+right", "alt+right")},
		{placeCommand, actHome, keyed("start of the line", "home")},
		{placeCommand, actEnd, keyed("end of the line", "end", "ctrl+e")},
		{placeCommand, actBackspace, keyed("delete to the left", "backspace", "ctrl+h")},
		{placeCommand, actDelete, keyed("delete to the right", "delete", "ctrl+d")},
		{placeCommand, actKillWord, keyed("delete the word to the left", "ctrl+w", "alt+backspace")},
		{placeCommand, actKillStart, keyed("delete to the start", "ctrl+u")},
		{placeCommand, actKillEnd, keyed("delete to the end", "ctrl+k")},
		{placeCommand, actUndo, keyed("undo", "ctrl+_", "ctrl+z", "ctrl+/")},
		{placeCommand, actOlder, keyed("older line", "up", "ctrl+p")},
		{placeCommand, actNewer, keyed("newer line", "down", "ctrl+n")},
		{placeCommand, actTab, keyed("show that tab", altDigits()...)},
	}
}

// emptyLineBindings are the keys that mean something else while nothing is typed.
func emptyLineBindings() []binding {
	return []binding{
		{placeEmpty, actPrevTab, keyed("previous tab", "left")},
		{placeEmpty, actNextTab, keyed("next tab", "right")},
		{placeEmpty, actCopyMode, keyed("copy mode", "pgup", "[")},
		{placeEmpty, actKeys, keyed("keys and commands", "?")},
	}
}

// panelBindings are the keys that move through the approval panel.
func panelBindings() []binding {
	return []binding{
		{placePanel, actPanelDown, keyed("one line down (on an empty line)", "down")},
		{placePanel, actPanelUp, keyed("one line up (on an empty line)", "up")},
		{placePanel, actPanelPage, keyed("next page; behind the last, what was not shown yet, then the top", "pgdown")},
		{placePanel, actPanelPageUp, keyed("page before", "shift+pgup", "pgup")},
		{placePanel, actPanelTop, keyed("first row (on an empty line)", "home")},
		{placePanel, actPanelEnd, keyed("last row (on an empty line); rows jumped over count as not shown", "end")},
		{placePanel, actPanelNext, keyed("next call (on an empty line)", "tab")},
		{placePanel, actPanelPrev, keyed("previous call", "shift+tab")},
		{placePanel, actPanelTab, keyed("show the tab of the call", "ctrl+t")},
	}
}

// copyBindings are the keys of copy mode, those of vi.
func copyBindings(commandKey string) []binding {
	return []binding{
		{placeCopy, actLeave, keyed("leave (Enter copies a selection first)", "q", "esc", "ctrl+c", "enter", commandKey)},
		{placeCopy, actCopyLeft, keyed("left", "h", "left")},
		{placeCopy, actCopyDown, keyed("down", "j", "down")},
		{placeCopy, actCopyUp, keyed("up", "k", "up")},
		{placeCopy, actCopyRight, keyed("right", "l", "right")},
		{placeCopy, actCopyWord, keyed("next word", "w")},
		{placeCopy, actCopyBack, keyed("word before", "b")},
		{placeCopy, actCopyWordEnd, keyed("end of the word", "e")},
		{placeCopy, actCopyStart, keyed("start of the line", "0", "home")},
		{placeCopy, actCopyFirst, keyed("first letter of the line", "^")},
		{placeCopy, actCopyLineEnd, keyed("end of the line", "$", "end")},
		{placeCopy, actCopyTop, keyed("first line of the scrollback", "g")},
		{placeCopy, actCopyBottom, keyed("last line", "G")},
		{placeCopy, actCopyPageUp, keyed("a page up", "pgup", "ctrl+b")},
		{placeCopy, actCopyPageDn, keyed("a page down", "pgdown", "ctrl+f")},
		{placeCopy, actCopyHalfUp, keyed("half a page up", "ctrl+u")},
		{placeCopy, actCopyHalfDn, keyed("half a page down", "ctrl+d")},
		{placeCopy, actCopySelect, keyed("start or drop a selection", "v", "space")},
		{placeCopy, actCopyLines, keyed("select whole lines", "V")},
		{placeCopy, actCopySwap, keyed("go to the other end of the selection", "o")},
		{placeCopy, actCopyYank, keyed("copy the selection to the clipboard", "y")},
		{placeCopy, actCopyEdit, keyed("open the scrollback in your editor", "E")},
		{placeCopy, actCopySearch, keyed("search forward", "/")},
		{placeCopy, actCopySearchB, keyed("search backward", "?")},
		{placeCopy, actCopyNext, keyed("next match", "n")},
		{placeCopy, actCopyPrev, keyed("match before", "N")},
		{placeCopy, actCopyPrompt, keyed("next prompt of a shell that marks them", "}")},
		{placeCopy, actCopyPromptB, keyed("prompt before", "{")},
	}
}

// questionBindings answer a question. Only y says yes.
func questionBindings() []binding {
	return []binding{
		{placeQuestion, actYes, keyed("yes", "y")},
		{placeQuestion, actNo, keyed("no", "n", "esc", "enter", "ctrl+c")},
	}
}

// pickerBindings are the keys in the list of sessions.
func pickerBindings(commandKey string) []binding {
	return []binding{
		{placePicker, actPickDown, keyed("down", "down", "j", "ctrl+n")},
		{placePicker, actPickUp, keyed("up", "up", "k", "ctrl+p")},
		{placePicker, actPickPage, keyed("a page down", "pgdown", "space")},
		{placePicker, actPickPageUp, keyed("a page up", "pgup")},
		{placePicker, actPick, keyed("continue that session in a tab", "enter")},
		{placePicker, actPickAll, keyed("take back all agents that were left running", "a")},
		{placePicker, actPickEnd, keyed("end an agent that was left running", "x")},
		{placePicker, actLeave, keyed("close", "esc", "q", "ctrl+c", commandKey)},
	}
}

// helpBindings are the keys in the help screen.
func helpBindings(commandKey string) []binding {
	return []binding{
		{placeHelp, actHelpDown, keyed("down", "down", "j")},
		{placeHelp, actHelpUp, keyed("up", "up", "k")},
		{placeHelp, actHelpPage, keyed("a page down", "pgdown", "space")},
		{placeHelp, actHelpPageUp, keyed("a page up", "pgup")},
		{placeHelp, actLeave, keyed("close", "q", "esc", "enter", "?", "ctrl+c", commandKey)},
	}
}

// altDigits are the keys for tabs by number.
func altDigits() []string {
	return strings.Fields("alt+1 alt+2 alt+3 alt+4 alt+5 alt+6 alt+7 alt+8 alt+9")
}

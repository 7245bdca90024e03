package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
)

// place is where a key is pressed. Each place has keys of its own.
type place string

// The places, in the order of the help screen.
const (
	placeTerminal place = "in the agent"
	placeStarting place = "while an agent starts"
	placePrefix   place = "after the prefix key"
	placeCommand  place = "on the command line"
	placeEmpty    place = "on an empty command line"
	placePanel    place = "with the approval panel open"
	placeCopy     place = "in copy mode"
	placeHelp     place = "in this help"
	placePicker   place = "in the list of sessions"
	placeQuestion place = "at a question"
)

// word is the place in the names that config.json uses.
func (p place) word() string {
	switch p {
	case placeTerminal:
		return "agent"
	case placeStarting:
		return "starting"
	case placePrefix:
		return "prefix"
	case placeCommand:
		return "command"
	case placeEmpty:
		return "empty"
	case placePanel:
		return "panel"
	case placeCopy:
		return "copy"
	case placeHelp:
		return "help"
	case placePicker:
		return "pick"
	}
	return "question"
}

// binding ties keys to what they do in one place. The table of all bindings is
// the only list of keys: dispatch, the help screen and the generated
// documentation read it.
type binding struct {
	place       place
	action      action
	key.Binding // its keys, named as keyName does, and in the help what they do
}

// keyed binds keys to what they do; a binding may have none.
func keyed(does string, names ...string) key.Binding {
	b := key.NewBinding(key.WithKeys(names...))
	b.SetHelp("", does)
	return b
}

// member is the member of config.json that alone says the key, or empty.
func (b binding) member() string {
	switch {
	case b.action == actPrefix:
		return "prefix"
	case b.action == actLiteral || b.action == actCommand && b.place == placeTerminal:
		return "commandKey"
	}
	return ""
}

// name is what config.json calls the binding: its place and its action. The names
// are stable.
func (b binding) name() string {
	word := b.place.word()
	return word + "." + strings.ReplaceAll(strings.TrimPrefix(string(b.action), word+"-"), " ", "-")
}

// action names what a key does.
type action string

// The actions.
const (
	actCommand     action = "command-line"
	actTab         action = "tab-number"
	actLog         action = "log"
	actPrefix      action = "prefix"
	actLiteral     action = "literal"
	actLeave       action = "leave"
	actEnter       action = "enter"
	actLeft        action = "left"
	actRight       action = "right"
	actHome        action = "home"
	actEnd         action = "end"
	actWordLeft    action = "word-left"
	actWordRight   action = "word-right"
	actBackspace   action = "backspace"
	actDelete      action = "delete"
	actKillWord    action = "kill-word"
	actKillStart   action = "kill-to-start"
	actKillEnd     action = "kill-to-end"
	actUndo        action = "undo"
	actOlder       action = "older"
	actNewer       action = "newer"
	actComplete    action = "complete"
	actNewline     action = "newline"
	actPrevTab     action = "previous-tab"
	actNextTab     action = "next-tab"
	actCopyMode    action = "copy-mode"
	actKeys        action = "keys"
	actPanelDown   action = "panel-down"
	actPanelUp     action = "panel-up"
	actPanelPage   action = "panel-page"
	actPanelPageUp action = "panel-page-up"
	actPanelTop    action = "panel-top"
	actPanelEnd    action = "panel-end"
	actPanelNext   action = "panel-next"
	actPanelPrev   action = "panel-previous"
	actPanelTab    action = "panel-tab"
	actCopyLeft    action = "copy-left"
	actCopyRight   action = "copy-right"
	actCopyUp      action = "copy-up"
	actCopyDown    action = "copy-down"
	actCopyPageUp  action = "copy-page-up"
	actCopyPageDn  action = "copy-page-down"
	actCopyHalfUp  action = "copy-half-up"
	actCopyHalfDn  action = "copy-half-down"
	actCopyTop     action = "copy-top"
	actCopyBottom  action = "copy-bottom"
	actCopyStart   action = "copy-line-start"
	actCopyFirst   action = "copy-first-letter"
	actCopyLineEnd action = "copy-line-end"
	actCopyWord    action = "copy-word"
	actCopyBack    action = "copy-word-back"
	actCopyWordEnd action = "copy-word-end"
	actCopySelect  action = "copy-select"
	actCopyLines   action = "copy-select-lines"
	actCopySwap    action = "copy-swap-ends"
	actCopyYank    action = "copy-yank"
	actCopyEdit    action = "copy-edit"
	actCopySearch  action = "copy-search"
	actCopySearchB action = "copy-search-back"
	actCopyNext    action = "copy-next-match"
	actCopyPrev    action = "copy-previous-match"
	actYes         action = "yes"
	actNo          action = "no"
	actHelpDown    action = "help-down"
	actHelpUp      action = "help-up"
	actHelpPage    action = "help-page"
	actHelpPageUp  action = "help-page-up"
	actPickDown    action = "pick-down"
	actPickUp      action = "pick-up"
	actPickPage    action = "pick-page"
	actPickPageUp  action = "pick-page-up"
	actPick        action = "pick"
	actPickEnd     action = "pick-end"
	actPickAll     action = "pick-all"
)

// keyTable is the registry of all keys with those that nobody has changed. An
// empty prefix is none.
func keyTable(commandKey, prefix string) []binding {
	table := []binding{
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
	table = append(table, binding{placeStarting, actLog, keyed("show the log of its start, or close it", "ctrl+l")})
	table = append(table, prefixBindings(prefix)...)
	return append(table, []binding{
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

		{placeEmpty, actPrevTab, keyed("previous tab", "left")},
		{placeEmpty, actNextTab, keyed("next tab", "right")},
		{placeEmpty, actCopyMode, keyed("copy mode", "pgup", "[")},
		{placeEmpty, actKeys, keyed("keys and commands", "?")},

		{placePanel, actPanelDown, keyed("one line down (on an empty line)", "down")},
		{placePanel, actPanelUp, keyed("one line up (on an empty line)", "up")},
		{placePanel, actPanelPage, keyed("next page; behind the last, what was not shown yet, then the top", "pgdown")},
		{placePanel, actPanelPageUp, keyed("page before", "shift+pgup", "pgup")},
		{placePanel, actPanelTop, keyed("first row (on an empty line)", "home")},
		{placePanel, actPanelEnd, keyed("last row (on an empty line); rows jumped over count as not shown", "end")},
		{placePanel, actPanelNext, keyed("next call (on an empty line)", "tab")},
		{placePanel, actPanelPrev, keyed("previous call", "shift+tab")},
		{placePanel, actPanelTab, keyed("show the tab of the call", "ctrl+t")},

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

		{placeQuestion, actYes, keyed("yes", "y")},
		{placeQuestion, actNo, keyed("no", "n", "esc", "enter", "ctrl+c")},

		{placePicker, actPickDown, keyed("down", "down", "j", "ctrl+n")},
		{placePicker, actPickUp, keyed("up", "up", "k", "ctrl+p")},
		{placePicker, actPickPage, keyed("a page down", "pgdown", "space")},
		{placePicker, actPickPageUp, keyed("a page up", "pgup")},
		{placePicker, actPick, keyed("continue that session in a tab", "enter")},
		{placePicker, actPickAll, keyed("take back all agents that were left running", "a")},
		{placePicker, actPickEnd, keyed("end an agent that was left running", "x")},
		{placePicker, actLeave, keyed("close", "esc", "q", "ctrl+c", commandKey)},

		{placeHelp, actHelpDown, keyed("down", "down", "j")},
		{placeHelp, actHelpUp, keyed("up", "up", "k")},
		{placeHelp, actHelpPage, keyed("a page down", "pgdown", "space")},
		{placeHelp, actHelpPageUp, keyed("a page up", "pgup")},
		{placeHelp, actLeave, keyed("close", "q", "esc", "enter", "?", "ctrl+c", commandKey)},
	}...)
}

func altDigits() []string {
	return strings.Fields("alt+1 alt+2 alt+3 alt+4 alt+5 alt+6 alt+7 alt+8 alt+9")
}

// displayKey writes a key's name the way people do: "Ctrl-A", "Alt-1".
func displayKey(name string) string {
	if name == "space" {
		return "Space"
	}
	parts := strings.Split(name, "+")
	if name == "+" || strings.HasSuffix(name, "++") {
		parts = append(strings.Split(strings.TrimSuffix(name, "+"), "+")[:strings.Count(name, "+")-1], "+")
	}
	for i, p := range parts {
		switch {
		case i < len(parts)-1:
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		case p == "pgup":
			parts[i] = "PgUp"
		case p == "pgdown":
			parts[i] = "PgDn"
		case len(p) > 1:
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		case len(parts) > 1:
			parts[i] = strings.ToUpper(p)
		}
	}
	switch shown := strings.Join(parts, "-"); shown {
	case "Left":
		return "←"
	case "Right":
		return "→"
	case "Up":
		return "↑"
	case "Down":
		return "↓"
	default:
		return shown
	}
}

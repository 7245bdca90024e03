package tui

import "strings"

// place is where a key is pressed. Each place has keys of its own.
type place string

// The places, in the order of the help screen.
const (
	placeTerminal place = "in the agent"
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
	place  place
	action action
	keys   []string // names as keyName gives them
	help   string
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
		{placeTerminal, actCommand, []string{commandKey}, "open the command line and the approval panel"},
		{placeTerminal, actTab, altDigits(), "show that tab"},
		{placeTerminal, "next", nil, "next tab"},
		{placeTerminal, "prev", nil, "previous tab"},
		{placeTerminal, "last", nil, "the tab shown before"},
		{placeTerminal, "new", nil, "open a tab"},
		{placeTerminal, "focus", nil, "next pane of the split"},
		{placeTerminal, "zoom", nil, "show the focused pane alone, or all again"},
		{placeTerminal, "copy", nil, "copy mode"},
		{placeTerminal, "edit", nil, "open the scrollback in your editor"},
	}
	table = append(table, prefixBindings(prefix)...)
	return append(table, []binding{
		{placeCommand, actLiteral, []string{commandKey}, "close, and send the key itself to the agent"},
		{placeCommand, actLeave, []string{"esc"}, "close, keeping what is typed"},
		{placeCommand, actEnter, []string{"enter"}, "run the command or send the text; on an empty line go back"},
		{placeCommand, actNewline, []string{"alt+enter", "shift+enter", "ctrl+j"}, "a new line in the text"},
		{placeCommand, actComplete, []string{"tab"}, "complete the command, tab, agent or path"},
		{placeCommand, actLeft, []string{"left", "ctrl+b"}, "one character left"},
		{placeCommand, actRight, []string{"right", "ctrl+f"}, "one character right"},
		{placeCommand, actWordLeft, []string{"alt+b", "ctrl+left", "alt+left"}, "one word left"},
		{placeCommand, actWordRight, []string{"alt+f", "ctrl+right", "alt+right"}, "one word right"},
		{placeCommand, actHome, []string{"home"}, "start of the line"},
		{placeCommand, actEnd, []string{"end", "ctrl+e"}, "end of the line"},
		{placeCommand, actBackspace, []string{"backspace", "ctrl+h"}, "delete to the left"},
		{placeCommand, actDelete, []string{"delete", "ctrl+d"}, "delete to the right"},
		{placeCommand, actKillWord, []string{"ctrl+w", "alt+backspace"}, "delete the word to the left"},
		{placeCommand, actKillStart, []string{"ctrl+u"}, "delete to the start"},
		{placeCommand, actKillEnd, []string{"ctrl+k"}, "delete to the end"},
		{placeCommand, actUndo, []string{"ctrl+_", "ctrl+z", "ctrl+/"}, "undo"},
		{placeCommand, actOlder, []string{"up", "ctrl+p"}, "older line"},
		{placeCommand, actNewer, []string{"down", "ctrl+n"}, "newer line"},
		{placeCommand, actTab, altDigits(), "show that tab"},

		{placeEmpty, actPrevTab, []string{"left"}, "previous tab"},
		{placeEmpty, actNextTab, []string{"right"}, "next tab"},
		{placeEmpty, actCopyMode, []string{"pgup", "["}, "copy mode"},
		{placeEmpty, actKeys, []string{"?"}, "keys and commands"},

		{placePanel, actPanelDown, []string{"down"}, "one line down (on an empty line)"},
		{placePanel, actPanelUp, []string{"up"}, "one line up (on an empty line)"},
		{placePanel, actPanelPage, []string{"pgdown"}, "next page; behind the last, what was not shown yet, then the top"},
		{placePanel, actPanelPageUp, []string{"shift+pgup"}, "page before"},
		{placePanel, actPanelTop, []string{"home"}, "first row (on an empty line)"},
		{placePanel, actPanelEnd, []string{"end"}, "last row (on an empty line); rows jumped over count as not shown"},
		{placePanel, actPanelNext, []string{"tab"}, "next call (on an empty line)"},
		{placePanel, actPanelPrev, []string{"shift+tab"}, "previous call"},
		{placePanel, actPanelTab, []string{"ctrl+t"}, "show the tab of the call"},

		{placeCopy, actLeave, []string{"q", "esc", "ctrl+c", "enter", commandKey}, "leave (Enter copies a selection first)"},
		{placeCopy, actCopyLeft, []string{"h", "left"}, "left"},
		{placeCopy, actCopyDown, []string{"j", "down"}, "down"},
		{placeCopy, actCopyUp, []string{"k", "up"}, "up"},
		{placeCopy, actCopyRight, []string{"l", "right"}, "right"},
		{placeCopy, actCopyWord, []string{"w"}, "next word"},
		{placeCopy, actCopyBack, []string{"b"}, "word before"},
		{placeCopy, actCopyWordEnd, []string{"e"}, "end of the word"},
		{placeCopy, actCopyStart, []string{"0", "home"}, "start of the line"},
		{placeCopy, actCopyFirst, []string{"^"}, "first letter of the line"},
		{placeCopy, actCopyLineEnd, []string{"$", "end"}, "end of the line"},
		{placeCopy, actCopyTop, []string{"g"}, "first line of the scrollback"},
		{placeCopy, actCopyBottom, []string{"G"}, "last line"},
		{placeCopy, actCopyPageUp, []string{"pgup", "ctrl+b"}, "a page up"},
		{placeCopy, actCopyPageDn, []string{"pgdown", "ctrl+f"}, "a page down"},
		{placeCopy, actCopyHalfUp, []string{"ctrl+u"}, "half a page up"},
		{placeCopy, actCopyHalfDn, []string{"ctrl+d"}, "half a page down"},
		{placeCopy, actCopySelect, []string{"v", "space"}, "start or drop a selection"},
		{placeCopy, actCopyLines, []string{"V"}, "select whole lines"},
		{placeCopy, actCopySwap, []string{"o"}, "go to the other end of the selection"},
		{placeCopy, actCopyYank, []string{"y"}, "copy the selection to the clipboard"},
		{placeCopy, actCopyEdit, []string{"E"}, "open the scrollback in your editor"},
		{placeCopy, actCopySearch, []string{"/"}, "search forward"},
		{placeCopy, actCopySearchB, []string{"?"}, "search backward"},
		{placeCopy, actCopyNext, []string{"n"}, "next match"},
		{placeCopy, actCopyPrev, []string{"N"}, "match before"},

		{placeQuestion, actYes, []string{"y"}, "yes"},
		{placeQuestion, actNo, []string{"n", "esc", "enter", "ctrl+c"}, "no"},

		{placePicker, actPickDown, []string{"down", "j", "ctrl+n"}, "down"},
		{placePicker, actPickUp, []string{"up", "k", "ctrl+p"}, "up"},
		{placePicker, actPickPage, []string{"pgdown", "space"}, "a page down"},
		{placePicker, actPickPageUp, []string{"pgup"}, "a page up"},
		{placePicker, actPick, []string{"enter"}, "continue that session in a tab"},
		{placePicker, actPickAll, []string{"a"}, "take back all agents that were left running"},
		{placePicker, actPickEnd, []string{"x"}, "end an agent that was left running"},
		{placePicker, actLeave, []string{"esc", "q", "ctrl+c", commandKey}, "close"},

		{placeHelp, actHelpDown, []string{"down", "j"}, "down"},
		{placeHelp, actHelpUp, []string{"up", "k"}, "up"},
		{placeHelp, actHelpPage, []string{"pgdown", "space"}, "a page down"},
		{placeHelp, actHelpPageUp, []string{"pgup"}, "a page up"},
		{placeHelp, actLeave, []string{"q", "esc", "enter", "?", "ctrl+c", commandKey}, "close"},
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

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
	actCopyPrompt  action = "copy-next-prompt"
	actCopyPromptB action = "copy-previous-prompt"
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

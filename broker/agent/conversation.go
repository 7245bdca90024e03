package agent

import (
	"os"
	"strings"
	"unicode/utf8"
)

// Conversation is an agent's conversation as its home shows it. It is not trusted, because the agent
// can write anything there.
type Conversation struct {
	Begun      bool   // it can be continued
	LastPrompt string // the person's last prompt; empty if it is not known
}

// Conversation looks in an agent's home on the host for the conversation with that id. It is empty
// for an agent that keeps no conversations.
func (a Adapter) Conversation(home, id string) Conversation {
	root, err := os.OpenRoot(home)
	if err != nil {
		return Conversation{}
	}
	defer root.Close()
	var c Conversation
	if a.Kept != nil {
		c.Begun = a.Kept(HomeDir{root}, id)
	}
	if a.LastPrompt != nil {
		c.LastPrompt = PromptLine(a.LastPrompt(HomeDir{root}, id))
	}
	return c
}

// PromptLine returns a prompt as lists show it: its beginning, as one line of valid UTF-8 of at most
// 400 bytes. Control characters stay in it.
func PromptLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	const limit = 400
	for len(text) > limit {
		text = text[:limit]
		for !utf8.ValidString(text) {
			text = text[:len(text)-1]
		}
	}
	return text
}

// unlessCommand returns a text that was typed into an agent, or "" if it is one of the agent's own
// commands: "/model", but not "/etc/hosts is wrong".
func unlessCommand(text string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if strings.HasPrefix(word, "/") && strings.Count(word, "/") == 1 {
		return ""
	}
	return text
}

package body

import "slices"

// chat judges a request of OpenAI's Chat Completions API.
func (j *judge) chat() error {
	names := []string{"model", "tools", "tool_choice", "messages", "web_search_options", "store", "mcp_servers", "container", "n"}
	return j.request(chatConversation, j.routerNames(names), func(key string) error {
		switch key {
		case "messages":
			return j.messages(j.parts, "content", "images")
		case "n":
			return j.readAnswers(key)
		case "functions", "response_format":
			return j.skip()
		}
		return j.openaiMember(key)
	})
}

// parts reads the content of a chat message.
func (j *judge) parts() error { return j.nested(j.part) }

func (j *judge) part() error {
	return j.members(append(slices.Clip(mediaNames), "content", "url"), func(key string) error {
		switch key {
		case "url":
			return j.mediaURL(key)
		case "content":
			return j.parts()
		}
		return j.media(key)
	})
}

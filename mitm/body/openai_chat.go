package body

// chat judges a request of OpenAI's Chat Completions API.
func (j *judge) chat() error {
	names := []string{"model", "tools", "tool_choice", "messages", "web_search_options", "store", "mcp_servers", "container", "n"}
	return j.members(j.routerNames(names), func(key string) error {
		switch key {
		case "messages":
			return j.messages(j.parts)
		case "n":
			return j.readAnswers(key)
		}
		return j.openaiMember(key)
	})
}

// parts reads the content of a chat message.
func (j *judge) parts() error { return j.nested(j.part) }

func (j *judge) part() error {
	names := []string{"image_url", "video_url", "audio_url", "input_audio", "url", "file", "file_url", "file_id", "file_data", "content"}
	return j.members(names, func(key string) error {
		switch key {
		case "image_url", "video_url", "audio_url", "input_audio", "url":
			return j.imageURL()
		case "file":
			return j.file()
		case "content":
			return j.parts()
		}
		return j.fileMember(key)
	})
}

// file reads an attached file, which must hold its data.
func (j *judge) file() error {
	if j.peek() != '{' {
		return j.skip()
	}
	return j.members([]string{"file_id", "file_url", "file_data"}, j.fileMember)
}

package body

import "strings"

// chat judges a request of OpenAI's Chat Completions API.
func (j *judge) chat() error {
	names := []string{"model", "tools", "tool_choice", "messages", "web_search_options", "store", "mcp_servers", "container"}
	return j.members(j.routerNames(names), func(key string) error {
		switch key {
		case "model":
			return j.readModel()
		case "tools":
			return j.tools(j.openaiTool)
		case "tool_choice":
			return j.openaiChoice()
		case "messages":
			return j.messages("messages", j.parts)
		case "web_search_options":
			return j.present("web_search_options would make the provider search the web.")
		case "mcp_servers", "container":
			return j.absent(key + " would make the provider reach out by itself.")
		case "store":
			return j.unstore()
		}
		return j.routerMember(key)
	})
}

// present refuses a member whose mere presence, even empty, means something.
func (j *judge) present(words string) error {
	start := j.pos
	if err := j.skip(); err != nil {
		return err
	}
	if string(j.data[start:j.pos]) == "null" {
		return nil
	}
	return refuse("%s", words)
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
		case "file_data":
			return j.fileData()
		case "file_url":
			return j.absent("a file_url would make the provider fetch it; send the data itself.")
		case "file_id":
			return j.absent("content that refers to the provider's file storage.")
		case "content":
			return j.parts()
		}
		return j.skip()
	})
}

// file reads an attached file, which must hold its data.
func (j *judge) file() error {
	if j.peek() != '{' {
		return j.skip()
	}
	return j.members([]string{"file_id", "file_url", "file_data"}, func(key string) error {
		switch key {
		case "file_id":
			return j.absent("content that refers to the provider's file storage.")
		case "file_url":
			return j.absent("a file_url would make the provider fetch it; send the data itself.")
		case "file_data":
			return j.fileData()
		}
		return j.skip()
	})
}

// fileData reads the data of a file, which some providers take as a URL, too.
func (j *judge) fileData() error {
	if j.peek() != '"' {
		return j.skip()
	}
	data, err := j.str()
	if err == nil && strings.Contains(data, "://") && !strings.HasPrefix(data, "data:") {
		err = remote(data, "file_data")
	}
	return err
}

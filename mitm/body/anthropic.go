package body

import "errors"

// anthropic judges a request of the Messages API.
func (j *judge) anthropic() error {
	return j.anthropicRequest(func(key string) error {
		switch key {
		case "model":
			return j.readModel()
		case "fallbacks":
			return j.fallbacks()
		}
		return j.anthropicMember(key)
	})
}

// anthropicRequest reads the members of a request, or of a fallback, which has the same
// members.
func (j *judge) anthropicRequest(each func(key string) error) error {
	return j.request(anthropicConversation, j.routerNames([]string{
		"model", "tools", "mcp_servers", "container", "messages", "system", "tool_choice", "skills", "fallbacks",
	}), each)
}

// anthropicMember reads a top-level member other than those that name models.
func (j *judge) anthropicMember(key string) error {
	switch key {
	case "tools":
		return j.tools(j.anthropicTool)
	case "mcp_servers":
		return j.mustBeEmpty("mcp_servers would make the provider connect to other servers.")
	case "container", "skills":
		return j.mustBeEmpty(key + " would make the provider run code.")
	case "messages":
		return j.messages(j.blocks, "content", "tool_changes")
	case "system":
		return j.blocks()
	case "tool_choice":
		return j.anthropicChoice()
	case "max_tokens":
		return j.readMaxTokens()
	case "output_format":
		return j.skip()
	}
	return j.routerMember(key)
}

// fallbacks reads what the provider tries when the model fails or refuses: a word, or
// entries that each name a model and may replace other members of the request.
func (j *judge) fallbacks() error {
	switch j.Peek() {
	case '[':
		return j.array(func() error {
			if j.Peek() != '{' {
				return j.readOther()
			}
			return j.anthropicRequest(func(key string) error {
				switch key {
				case "model":
					return j.readOther()
				case "fallbacks":
					return errors.New("an entry of fallbacks has fallbacks of its own")
				}
				return j.anthropicMember(key)
			})
		})
	case '{':
		return errors.New("fallbacks is not an array")
	}
	return j.setting("fallbacks")
}

// blocks reads content: a text, one block or an array of blocks.
func (j *judge) blocks() error {
	switch j.Peek() {
	case '[':
		return j.array(j.blocks)
	case '{':
		return j.block()
	default:
		return j.skip()
	}
}

// block reads one content block. It does not check the input of a tool call, which is the
// agent's own data.
func (j *judge) block() error {
	names := []string{
		"type", "source", "file_id", "content", "input", "image_url", "video_url", "file_url", "tool", "tool_changes",
	}
	return j.members(names, func(key string) error {
		switch key {
		case "type":
			return j.blockType()
		case "tool":
			return j.toolChange()
		case "source":
			return j.source()
		case "file_id":
			return j.mustBeEmpty("content that refers to the provider's file storage.")
		case "image_url", "video_url", "file_url":
			return j.mediaURL(key)
		case "content", "tool_changes":
			return j.blocks()
		}
		return j.label(key)
	})
}

// blockType reads the type of a content block.
func (j *judge) blockType() error {
	kind, err := j.text("the type of a content block")
	switch {
	case err != nil:
		return err
	case kind == "container_upload":
		return refuse("content that refers to the provider's file storage.")
	case kind == "mcp_tool_listing":
		return refuse("content that lists the tools of a server to which the provider would connect.")
	}
	return nil
}

// toolChange reads the tool that a block adds to or removes from the conversation: a name,
// or a full definition as in the list of tools.
func (j *judge) toolChange() error {
	if j.Peek() != '{' {
		return j.skip()
	}
	return j.members([]string{"type", "name", "definition"}, func(key string) error {
		if key != "definition" || j.Peek() == 'n' {
			return j.skip()
		}
		if j.Peek() != '{' {
			return errors.New("the definition of a tool is not an object")
		}
		keep, err := j.anthropicTool()
		if err == nil && !keep {
			err = refuse("a message adds a tool that the provider would run.")
		}
		return err
	})
}

// source reads where the data of an image or document comes from.
func (j *judge) source() error {
	if j.Peek() != '{' {
		return j.skip() // the label of a search result
	}
	kind := ""
	err := j.members([]string{"type", "url", "file_id", "content"}, func(key string) (err error) {
		switch key {
		case "type":
			kind, err = j.text("the type of a source")
			return err
		case "url":
			return j.mustBeEmpty("content from a URL would make the provider fetch it; send the data itself.")
		case "file_id":
			return j.mustBeEmpty("content that refers to the provider's file storage.")
		case "content":
			return j.blocks()
		}
		return j.skip()
	})
	if err != nil {
		return err
	}
	switch kind {
	case "base64", "text", "content":
		return nil
	}
	return refuse("content whose source is %q; send the data itself.", clip(kind))
}

// anthropicTool reads a tool and reports whether the agent itself runs it.
func (j *judge) anthropicTool() (bool, error) {
	kind, name, typed := "", "", false
	err := j.members([]string{"type", "name", "mcp_server_name"}, func(key string) (err error) {
		switch key {
		case "type":
			typed = true
			kind, err = j.text("the type of a tool")
			return err
		case "name":
			name, err = j.text("the name of a tool")
			return err
		}
		return j.skip()
	})
	if err != nil {
		return false, err
	}
	return j.keepTool(!typed || kind == "custom", kind, name), nil
}

// anthropicChoice reads tool_choice.
func (j *judge) anthropicChoice() error {
	if j.Peek() != '{' {
		return j.setting("tool_choice")
	}
	return j.members([]string{"type", "name"}, func(key string) (err error) {
		if key == "name" {
			j.choice, err = j.named("the name in tool_choice")
			return err
		}
		return j.bounded(key, nil)
	})
}

package body

import (
	"fmt"
	"slices"
	"strings"
)

// clientTools are the types of tools that the agent itself runs. Tools of any other type
// are run by the provider, now or in future.
var clientTools = []string{"function", "custom"}

// responses judges a request of OpenAI's Responses API.
func (j *judge) responses() error {
	names := []string{
		"model", "tools", "tool_choice", "input", "instructions", "background", "previous_response_id",
		"conversation", "prompt", "store", "web_search_options", "mcp_servers", "container", "client_metadata",
	}
	return j.request(responsesConversation, j.routerNames(names), func(key string) error {
		switch key {
		case "input", "instructions":
			return j.items()
		case "background":
			return j.mustBeEmpty("background would leave the request running at the provider.")
		case "previous_response_id", "conversation", "prompt":
			return j.mustBeEmpty(key + " refers to something that the provider keeps; send it in the request.")
		case "client_metadata":
			return j.clientMetadata()
		}
		return j.openaiMember(key)
	})
}

// openaiMember reads a top-level member that both of OpenAI's APIs have.
func (j *judge) openaiMember(key string) error {
	switch key {
	case "model":
		return j.readModel()
	case "tools":
		return j.tools(j.openaiTool)
	case "tool_choice":
		return j.openaiChoice()
	case "web_search_options":
		return j.mustBeNull("web_search_options would make the provider search the web.")
	case "mcp_servers", "container":
		return j.mustBeEmpty(key + " would make the provider reach out by itself.")
	case "store":
		return j.unstore()
	case "max_output_tokens", "max_completion_tokens", "max_tokens":
		return j.readMaxTokens()
	}
	return j.routerMember(key)
}

// unstore turns "store": true into false.
func (j *judge) unstore() error {
	start := j.Pos()
	if err := j.skip(); err != nil {
		return err
	}
	switch string(j.Since(start)) {
	case "true":
		j.edits = append(j.edits, edit{start, j.Pos(), "false"})
		j.note("store")
	case "false", "null":
	default:
		return fmt.Errorf("store is not a boolean")
	}
	return nil
}

// items reads the input: a text, an item or an array of items. Items contain content parts,
// outputs of tools, and tools that are added to the request later.
func (j *judge) items() error { return j.nested(j.item) }

// nested reads an object, or every object in arrays of any depth, with each. It skips other
// values.
func (j *judge) nested(each func() error) error {
	switch j.Peek() {
	case '[':
		return j.array(func() error { return j.nested(each) })
	case '{':
		return each()
	default:
		return j.skip()
	}
}

func (j *judge) item() error {
	names := append(slices.Clip(mediaNames), "type", "role", "id", "content", "output", "tools", "server_url", "arguments", "input")
	kind, has := "", make(map[string]bool, len(names))
	err := j.members(names, func(key string) (err error) {
		has[key] = true
		switch key {
		case "type":
			kind, err = j.text("the type of an item")
			return err
		case "content", "output":
			return j.items()
		case "tools":
			return j.tools(j.openaiTool)
		case "server_url":
			return j.mustBeEmpty("a server_url would make the provider connect to another server.")
		}
		return j.media(key)
	})
	bare := has["id"] && !has["type"] && !has["role"] // the provider reads such an item as a reference
	if err == nil && (bare || kind == "item_reference" || strings.HasPrefix(kind, "mcp_approval")) {
		err = refuse("an item that refers to something that the provider keeps or runs; send it in the request.")
	}
	return err
}

// openaiTool reads a tool and reports whether the agent itself runs it. A namespace is kept,
// because the tools in it are judged themselves.
func (j *judge) openaiTool() (bool, error) {
	kind, name, execution := "", "", ""
	names := []string{"type", "name", "tools", "execution", "server_url", "function"}
	err := j.members(names, func(key string) (err error) {
		switch key {
		case "type":
			kind, err = j.text("the type of a tool")
			return err
		case "name":
			name, err = j.text("the name of a tool")
			return err
		case "execution":
			if j.Peek() == '"' {
				execution, err = j.str()
				return err
			}
		case "tools":
			return j.tools(j.openaiTool)
		case "function":
			if j.Peek() == '{' {
				return j.members([]string{"name"}, func(key string) (err error) {
					if key == "name" {
						name, err = j.text("the name of a function")
						return err
					}
					return j.skip()
				})
			}
		}
		return j.skip()
	})
	if err != nil {
		return false, err
	}
	client := slices.Contains(clientTools, kind) || kind == "namespace" || kind == "tool_search" && execution == "client"
	if name == "" {
		name = kind
	}
	return j.keepTool(client, kind, name), nil
}

// openaiChoice reads tool_choice: a word, a tool, or a list of allowed tools.
func (j *judge) openaiChoice() error {
	if j.Peek() != '{' {
		return j.bounded("tool_choice", nil)
	}
	kind := ""
	err := j.members([]string{"type", "tools", "allowed_tools"}, func(key string) (err error) {
		switch key {
		case "type":
			kind, err = j.named("the type of tool_choice")
			return err
		case "tools":
			if j.Peek() != '[' {
				return fmt.Errorf("the tools of tool_choice are not an array")
			}
			return j.array(j.openaiChoice)
		case "allowed_tools":
			return j.openaiAllowed()
		}
		return j.bounded("tool_choice", nil)
	})
	if err != nil {
		return err
	}
	if kind == "" || kind == "allowed_tools" || kind == "namespace" || slices.Contains(clientTools, kind) {
		return nil
	}
	return refuse("tool_choice names a tool that the provider would run.")
}

// openaiAllowed reads the list of allowed tools as the Chat API nests it.
func (j *judge) openaiAllowed() error {
	if j.Peek() != '{' {
		return j.bounded("tool_choice", nil)
	}
	return j.members([]string{"tools"}, func(key string) error {
		if key == "tools" && j.Peek() == '[' {
			return j.array(j.openaiChoice)
		}
		return j.bounded("tool_choice", nil)
	})
}

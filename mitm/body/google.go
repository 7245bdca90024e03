package body

import "fmt"

// google judges a request of the Gemini API. Its servers accept each name in camel case
// and in snake case.
func (j *judge) google() error {
	if j.Peek() != '{' {
		return fmt.Errorf("the request is not an object")
	}
	names := []string{
		"model", "tools", "contents", "systemInstruction", "system_instruction", "cachedContent", "cached_content",
		"generateContentRequest", "generate_content_request", "generationConfig", "generation_config", "store",
	}
	return j.request(googleConversation, names, func(key string) error {
		switch key {
		case "model":
			return j.readModel()
		case "tools":
			return j.tools(j.googleTool)
		case "contents":
			return j.googleContents()
		case "systemInstruction", "system_instruction":
			return j.googleContents()
		case "cachedContent", "cached_content":
			return j.mustBeEmpty("cachedContent refers to something that the provider keeps; send it in the request.")
		case "generateContentRequest", "generate_content_request":
			return j.google()
		case "generationConfig", "generation_config":
			return j.googleGeneration(key)
		case "store":
			return j.unstore()
		}
		return j.setting(key)
	})
}

// googleGeneration reads the settings for the answer.
func (j *judge) googleGeneration(setting string) error {
	if j.Peek() != '{' {
		return j.setting(setting)
	}
	return j.members([]string{"candidateCount", "candidate_count"}, func(key string) error {
		switch key {
		case "maxOutputTokens", "max_output_tokens":
			return j.readMaxTokens()
		case "candidateCount", "candidate_count":
			return j.readAnswers(key)
		}
		return j.member(setting, key, readByModel[setting])
	})
}

// googleTool reads an entry of tools: declarations of functions, or one or
// more tools that the provider runs.
func (j *judge) googleTool() (bool, error) {
	functions, other := false, ""
	names := []string{"functionDeclarations", "function_declarations"}
	err := j.members(names, func(key string) error {
		if key == names[0] || key == names[1] {
			functions = true
		} else {
			other = key
		}
		return j.skip()
	})
	if err != nil {
		return false, err
	}
	if functions && other != "" {
		return false, refuse("an entry of tools mixes functions with %q, which the provider would run.", clip(other))
	}
	return j.keepTool(other == "", other, ""), nil
}

// googleContents reads content or an array of it.
func (j *judge) googleContents() error {
	switch j.Peek() {
	case '[':
		return j.array(j.googleContents)
	case '{':
		return j.members([]string{"parts"}, func(key string) error {
			if key == "parts" {
				return j.googleParts()
			}
			return j.label(key)
		})
	default:
		return j.skip()
	}
}

// googleParts reads a part or an array of parts. The arguments and results of
// function calls are the agent's own data.
func (j *judge) googleParts() error {
	switch j.Peek() {
	case '[':
		return j.array(j.googleParts)
	case '{':
	default:
		return j.skip()
	}
	names := []string{"fileData", "file_data", "functionResponse", "function_response"}
	return j.members(names, func(key string) error {
		switch key {
		case "fileData", "file_data":
			return j.mustBeEmpty("fileData would make the provider fetch it; send the data itself.")
		case "functionResponse", "function_response":
			return j.googleContents() // it may have parts, too
		}
		return j.skip()
	})
}

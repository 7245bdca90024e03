package body

import "slices"

// The meaning of settings, such as the name of the user, a label or a cache key, cannot be
// judged. Therefore their size is bounded, so that they can carry little data out.
const (
	maxText     = 256      // bytes of one text, key or number
	maxSettings = 16 << 10 // bytes of all settings of a request together
)

// Top-level members that the model reads, by format. They are bounded only by the size of
// the body. All other members are settings, including unknown ones.
var (
	anthropicConversation = []string{"messages", "system", "tools", "output_format", "fallbacks"} // fallbacks contain parts of requests
	responsesConversation = []string{"input", "instructions", "tools"}
	chatConversation      = []string{"messages", "tools", "functions", "response_format"}
	googleConversation    = []string{
		"contents", "systemInstruction", "system_instruction", "tools", "generateContentRequest", "generate_content_request",
	}
)

// readByModel are the members of settings that the model reads, by the name of the setting.
var readByModel = map[string][]string{
	"output_config":      {"format"},
	"text":               {"format"},
	"prediction":         {"content"},
	"context_management": {"instructions"},
	"generationConfig":   schemas,
	"generation_config":  schemas,
}

// schemas are Google's names for the schema of an answer.
var schemas = []string{"responseSchema", "response_schema", "responseJsonSchema", "response_json_schema", "_responseJsonSchema"}

// labels are members that name or mark messages and their parts.
var labels = []string{"role", "name", "user", "metadata", "cache_control"}

// request reads the top-level members of a request and counts the bytes of its settings.
func (j *judge) request(conversation, names []string, each func(key string) error) error {
	return j.members(names, func(key string) error {
		start, before := j.Pos(), j.uncounted
		if err := each(key); err != nil || slices.Contains(conversation, key) {
			return err
		}
		if len(key) > maxText {
			return tooLong("a key of the request", len(key))
		}
		if j.settings += len(key) + j.Pos() - start - (j.uncounted - before); j.settings > maxSettings {
			return refuse("the request has more than %d bytes outside the conversation.", maxSettings)
		}
		return nil
	})
}

// setting reads a top-level member that does not belong to the conversation.
func (j *judge) setting(key string) error { return j.bounded(key, readByModel[key]) }

// label reads a member of a message or its parts. Labels are bounded; other members are
// not.
func (j *judge) label(key string) error {
	if slices.Contains(labels, key) {
		return j.bounded(key, nil)
	}
	return j.skip()
}

// bounded reads a value in which each text must be short, except in the members whose names
// are in read, because the model reads those.
func (j *judge) bounded(name string, read []string) error {
	start, size := j.Pos(), 0
	switch j.Peek() {
	case '[':
		return j.array(func() error { return j.bounded(name, read) })
	case '{':
		return j.members(read, func(key string) error { return j.member(name, key, read) })
	case '"':
		text, err := j.str()
		if err != nil {
			return err
		}
		size = len(text)
	default:
		if err := j.skip(); err != nil {
			return err
		}
		size = j.Pos() - start
	}
	if size > maxText {
		return tooLong(name, size)
	}
	return nil
}

// member reads a member of a setting.
func (j *judge) member(setting, key string, read []string) error {
	if start := j.Pos(); slices.Contains(read, key) {
		err := j.skip()
		j.uncounted += j.Pos() - start
		return err
	}
	if len(key) > maxText {
		return tooLong("a key in "+setting, len(key))
	}
	return j.bounded(key, read)
}

func tooLong(name string, size int) error {
	return refuse("%s has %d bytes; outside the conversation at most %d are allowed.", clip(name), size, maxText)
}

// clientMetadata reads the metadata that Codex sends with each request. It replaces texts
// that are too long by "{}". They are JSON about the session, such as the workspace's
// remotes.
func (j *judge) clientMetadata() error {
	if j.Peek() != '{' {
		return j.setting("client_metadata")
	}
	return j.object(func(key string) error {
		if j.Peek() != '"' || len(key) > maxText {
			return j.member("client_metadata", key, nil)
		}
		start := j.Pos()
		text, err := j.str()
		if err == nil && len(text) > maxText {
			j.edits = append(j.edits, edit{start, j.Pos(), `"{}"`})
			j.uncounted += j.Pos() - start
			j.note("client_metadata:%s", key)
		}
		return err
	})
}

// named reads a short string, such as a name.
func (j *judge) named(what string) (string, error) {
	text, err := j.text(what)
	if err == nil && len(text) > maxText {
		return "", tooLong(what, len(text))
	}
	return text, err
}

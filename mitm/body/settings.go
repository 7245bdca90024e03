package body

import "slices"

// What a request holds beside the conversation cannot be judged by its meaning: a name of
// the user, a label, a key of a cache. So it may hold little.
const (
	mostText     = 256      // bytes of one text, key or number
	mostSettings = 16 << 10 // bytes of all settings of a request together
)

// The top-level members that the model reads, by format. They have the bound of the body
// only. Every other member is a setting, also one that is not known.
var (
	anthropicConversation = []string{"messages", "system", "tools", "output_format", "fallbacks"} // fallbacks hold requests
	responsesConversation = []string{"input", "instructions", "tools"}
	chatConversation      = []string{"messages", "tools", "functions", "response_format"}
	googleConversation    = []string{
		"contents", "systemInstruction", "system_instruction", "tools", "generateContentRequest", "generate_content_request",
	}
)

// spoken are the members of settings that the model reads, by the name of the setting.
var spoken = map[string][]string{
	"output_config":      {"format"},
	"text":               {"format"},
	"prediction":         {"content"},
	"context_management": {"instructions"},
	"generationConfig":   schemas,
	"generation_config":  schemas,
}

// schemas are Google's names for the form of an answer.
var schemas = []string{"responseSchema", "response_schema", "responseJsonSchema", "response_json_schema", "_responseJsonSchema"}

// labels are members of messages and of their parts that name or mark them.
var labels = []string{"role", "name", "user", "metadata", "cache_control"}

// request walks the top-level members of a request and counts its settings.
func (j *judge) request(conversation, names []string, each func(key string) error) error {
	return j.members(names, func(key string) error {
		start, free := j.Pos(), j.free
		if err := each(key); err != nil || slices.Contains(conversation, key) {
			return err
		}
		if len(key) > mostText {
			return tooLong("a key of the request", len(key))
		}
		if j.settings += len(key) + j.Pos() - start - (j.free - free); j.settings > mostSettings {
			return refuse("the request holds more than %d bytes beside the conversation.", mostSettings)
		}
		return nil
	})
}

// setting reads a top-level member that is no part of the conversation.
func (j *judge) setting(key string) error { return j.bounded(key, spoken[key]) }

// label reads a member of a message or of a part of one that nothing else is known of.
func (j *judge) label(key string) error {
	if slices.Contains(labels, key) {
		return j.bounded(key, nil)
	}
	return j.skip()
}

// bounded reads a value each of whose texts is short, but for members that the model reads.
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
	if size > mostText {
		return tooLong(name, size)
	}
	return nil
}

// member reads a member of a setting.
func (j *judge) member(setting, key string, read []string) error {
	if start := j.Pos(); slices.Contains(read, key) {
		err := j.skip()
		j.free += j.Pos() - start
		return err
	}
	if len(key) > mostText {
		return tooLong("a key in "+setting, len(key))
	}
	return j.bounded(key, read)
}

func tooLong(name string, size int) error {
	return refuse("%s holds %d bytes; what is no part of the conversation may hold %d.", clip(name), size, mostText)
}

// clientMetadata reads what Codex tells of itself with each request, and empties what is
// too long: JSON about the session, the remotes of the workspace among it.
func (j *judge) clientMetadata() error {
	if j.Peek() != '{' {
		return j.setting("client_metadata")
	}
	return j.object(func(key string) error {
		if j.Peek() != '"' || len(key) > mostText {
			return j.member("client_metadata", key, nil)
		}
		start := j.Pos()
		text, err := j.str()
		if err == nil && len(text) > mostText {
			j.edits = append(j.edits, edit{start, j.Pos(), `"{}"`})
			j.free += j.Pos() - start
			j.note("client_metadata:%s", key)
		}
		return err
	})
}

// named reads a string that names something.
func (j *judge) named(what string) (string, error) {
	text, err := j.text(what)
	if err == nil && len(text) > mostText {
		return "", tooLong(what, len(text))
	}
	return text, err
}

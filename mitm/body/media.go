package body

import (
	"fmt"
	"strings"
)

// mediaNames are the members for pictures, sounds and files, or for references to them, in
// both of OpenAI's APIs and in compatible ones.
var mediaNames = []string{
	"image_url", "video_url", "audio_url", "input_audio", "image", "video", "audio", "file", "file_url", "file_id", "file_data", "source",
}

// media reads a member in mediaNames, or any other member as a label.
func (j *judge) media(key string) error {
	switch key {
	case "image_url", "video_url", "audio_url", "input_audio":
		return j.mediaURL(key)
	case "image", "video", "audio": // as in APIs of some providers behind OpenRouter
		return j.inline(key)
	case "file":
		return j.file()
	case "source": // as in Anthropic's API
		return j.source()
	}
	return j.fileMember(key)
}

// mediaURL reads a picture, a video or a sound as a URL, or as an object with one.
func (j *judge) mediaURL(what string) error {
	switch j.Peek() {
	case '"':
		url, err := j.str()
		if err != nil {
			return err
		}
		return refuseRemote(url, what)
	case '{':
		return j.members([]string{"url", "data"}, func(key string) error {
			switch key {
			case "url":
				return j.mediaURL(what)
			case "data":
				return j.inline(what)
			}
			return j.skip()
		})
	case 'n':
		return j.skip()
	}
	return fmt.Errorf("%s is neither a string nor an object", what)
}

// inline reads data that the request itself contains, one value or several. Some providers
// also accept a URL there. Base64 has no colon, and every URL has one.
func (j *judge) inline(what string) error {
	switch j.Peek() {
	case '"':
		data, err := j.str()
		if err == nil && strings.Contains(data, ":") {
			err = refuseRemote(data, what)
		}
		return err
	case '[':
		return j.array(func() error { return j.inline(what) })
	case '{':
		return j.mediaURL(what)
	}
	return j.skip()
}

// file reads an attached file, which must contain its data.
func (j *judge) file() error {
	if j.Peek() != '{' {
		return j.inline("file")
	}
	return j.members([]string{"file_id", "file_url", "file_data"}, j.fileMember)
}

// fileMember reads a member that contains a file or refers to one.
func (j *judge) fileMember(key string) error {
	switch key {
	case "file_url":
		return j.mustBeEmpty("a file_url would make the provider fetch it; send the data itself.")
	case "file_id":
		return j.mustBeEmpty("content that refers to the provider's file storage.")
	case "file_data":
		return j.inline(key)
	}
	return j.label(key)
}

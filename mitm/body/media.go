package body

import (
	"fmt"
	"strings"
)

// mediaNames are the members by which content of both of OpenAI's APIs, and of those
// that speak like them, brings pictures, sounds and files along, or refers to them.
var mediaNames = []string{"image_url", "video_url", "audio_url", "input_audio", "file", "file_url", "file_id", "file_data", "source"}

// media reads one of them; any other member is passed over.
func (j *judge) media(key string) error {
	switch key {
	case "image_url", "video_url", "audio_url", "input_audio":
		return j.mediaURL(key)
	case "file":
		return j.file()
	case "source": // as Anthropic has it
		return j.source()
	}
	return j.fileMember(key)
}

// mediaURL reads a picture, a video or a sound as a URL, or as an object with one.
func (j *judge) mediaURL(what string) error {
	switch j.peek() {
	case '"':
		url, err := j.str()
		if err != nil {
			return err
		}
		return remote(url, what)
	case '{':
		return j.members([]string{"url"}, func(key string) error {
			if key == "url" {
				return j.mediaURL(what)
			}
			return j.skip()
		})
	case 'n':
		return j.skip()
	}
	return fmt.Errorf("%s is neither a string nor an object", what)
}

// file reads an attached file, which must hold its data.
func (j *judge) file() error {
	if j.peek() != '{' {
		return j.fileData()
	}
	return j.members([]string{"file_id", "file_url", "file_data"}, j.fileMember)
}

// fileMember reads a member by which a file comes along, or is referred to.
func (j *judge) fileMember(key string) error {
	switch key {
	case "file_url":
		return j.absent("a file_url would make the provider fetch it; send the data itself.")
	case "file_id":
		return j.absent("content that refers to the provider's file storage.")
	case "file_data":
		return j.fileData()
	}
	return j.skip()
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

package usage

import (
	"bytes"
	"encoding/json"
)

const (
	// tailBytes is how much of the end of a long answer is read.
	tailBytes = 64 << 10
	// tailTries bounds how many places there are looked at.
	tailTries = 16
)

// tail is the end of a line or an answer that is too long to be held.
type tail struct {
	end  []byte
	size int64 // of all that was written
}

func (t *tail) write(p []byte) {
	t.size += int64(len(p))
	t.end = append(t.end, p[max(0, len(p)-tailBytes):]...)
	if over := len(t.end) - tailBytes; over > 0 {
		t.end = t.end[:copy(t.end, t.end[over:])]
	}
}

// readTail takes over what stands last in the end of a long line or answer and says
// what was used. In a string the quotes of the key would be escaped.
func (m *Meter) readTail() {
	t := m.long
	m.long = nil
	end := t.end
	for range tailTries {
		at := bytes.LastIndex(end, []byte(`"usage`))
		if at < 0 {
			break
		}
		key, value, _ := bytes.Cut(t.end[at:], []byte(":"))
		end = end[:at]
		var report json.RawMessage
		name := string(bytes.TrimSpace(key))
		if name != `"usage"` && name != `"usageMetadata"` || json.NewDecoder(bytes.NewReader(value)).Decode(&report) != nil {
			continue
		}
		before := m.count
		if m.read([]byte("{" + name + ":" + string(report) + "}")); m.count != before {
			return
		}
	}
	m.unread += t.size
}

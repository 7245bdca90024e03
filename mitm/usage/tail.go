package usage

import (
	"bytes"
	"encoding/json"
)

const (
	// tailBytes is how many bytes of the end of a long answer are read.
	tailBytes = 64 << 10
	// tailTries bounds how many possible reports in them are parsed.
	tailTries = 16
)

// tail is the end of a line or an answer that is too long to be held.
type tail struct {
	end  []byte
	size int64 // of the whole line or answer
}

func (t *tail) write(p []byte) {
	t.size += int64(len(p))
	t.end = append(t.end, p[max(0, len(p)-tailBytes):]...)
	if over := len(t.end) - tailBytes; over > 0 {
		t.end = t.end[:copy(t.end, t.end[over:])]
	}
}

// readTail reads the last usage report in the end of a long line or answer. Text of the
// model cannot contain its key, because quotes inside a string are escaped.
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

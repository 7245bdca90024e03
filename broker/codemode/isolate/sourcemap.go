package isolate

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// sourceMap knows from which line of the program each line of the engine's text comes. A nil
// map knows nothing.
type sourceMap struct {
	lines []int // by line of the engine's text, from 0; the program's lines, from 1
}

// newSourceMap reads a source map, of which it keeps the first mapping of each line. The map
// was written beside the program's text by the same library, in this process.
func newSourceMap(raw []byte) *sourceMap {
	var doc struct {
		Mappings string `json:"mappings"`
	}
	if json.Unmarshal(raw, &doc) != nil {
		return nil
	}
	m, line := &sourceMap{}, 0
	for generated := range strings.SplitSeq(doc.Mappings, ";") {
		first := line + 1
		for n, segment := range strings.Split(generated, ",") {
			if fields := variableLengths(segment); len(fields) >= 4 {
				line += fields[2]
				if n == 0 {
					first = line + 1
				}
			}
		}
		m.lines = append(m.lines, first)
	}
	return m
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// variableLengths reads the numbers of a segment: five bits a digit, the lowest first, of
// which the sixth bit says that more follow and the lowest of all is the sign.
func variableLengths(segment string) []int {
	var all []int
	value, shift := 0, 0
	for i := range len(segment) {
		d := strings.IndexByte(digits, segment[i])
		if d < 0 || shift > 30 {
			return nil
		}
		value |= d & 31 << shift
		shift += 5
		if d&32 != 0 {
			continue
		}
		if value&1 != 0 {
			all = append(all, -(value >> 1))
		} else {
			all = append(all, value>>1)
		}
		value, shift = 0, 0
	}
	return all
}

// line returns the program's line for one of the engine's, both from 1; 0 when it is not
// known.
func (m *sourceMap) line(generated int) int {
	if m == nil || generated < 1 || generated > len(m.lines) {
		return 0
	}
	return m.lines[generated-1]
}

// place is how the engine writes where something happened.
var place = regexp.MustCompile(`<[a-z]+>:(\d+)(:\d+)?`)

// firstLine returns the program's line of the first place in a stack, or 0.
func (m *sourceMap) firstLine(stack string) int {
	found := place.FindStringSubmatch(stack)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return m.line(n)
}

// inText replaces places of the engine's text by lines of the program.
func (m *sourceMap) inText(text string) string {
	return place.ReplaceAllStringFunc(text, func(found string) string {
		if line := m.firstLine(found); line > 0 {
			return "line " + strconv.Itoa(line)
		}
		return found
	})
}

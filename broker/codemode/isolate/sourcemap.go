package isolate

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// sourceMap knows from which line of the program each place of the engine's text comes. A nil
// map knows nothing.
type sourceMap struct {
	lines [][]mapping // by line of the engine's text, from 0
}

// mapping says that what begins at a column, from 0, comes from a line of the program, from 1.
type mapping struct{ column, line int }

// newSourceMap reads a source map. It was written beside the program's text by the same
// library, in this process.
func newSourceMap(raw []byte) *sourceMap {
	var doc struct {
		Mappings string `json:"mappings"`
	}
	if json.Unmarshal(raw, &doc) != nil {
		return nil
	}
	m, line := &sourceMap{}, 1
	for generated := range strings.SplitSeq(doc.Mappings, ";") {
		all, column := []mapping{{0, line}}, 0
		for segment := range strings.SplitSeq(generated, ",") {
			if fields := variableLengths(segment); len(fields) >= 4 {
				column += fields[0]
				line += fields[2]
				all = append(all, mapping{column, line})
			}
		}
		m.lines = append(m.lines, all)
	}
	return m
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// variableLengths reads the numbers of a segment. A digit has five bits of a number, the lowest
// first; its sixth bit means that more digits follow. The lowest bit of a number is its sign.
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

// line returns the program's line for a place in the engine's text, whose line and column are
// from 1; 0 when it is not known. Without a column it is where the engine's line begins.
func (m *sourceMap) line(generated, column int) int {
	if m == nil || generated < 1 || generated > len(m.lines) {
		return 0
	}
	found := 0
	for n, at := range m.lines[generated-1] {
		if n > 1 && at.column >= column {
			break
		}
		found = at.line
	}
	return found
}

// place is how the engine writes where something happened.
var place = regexp.MustCompile(`<[a-z]+>:(\d+)(?::(\d+))?`)

// firstLine returns the program's line of the first place in a stack, or 0.
func (m *sourceMap) firstLine(stack string) int {
	found := place.FindStringSubmatch(stack)
	if found == nil {
		return 0
	}
	generated, _ := strconv.Atoi(found[1])
	column, _ := strconv.Atoi(found[2])
	return m.line(generated, column)
}

// caller returns the program's line that called the function with which a stack begins, or 0.
func (m *sourceMap) caller(stack string) int {
	_, callers, _ := strings.Cut(stack, "\n")
	return m.firstLine(callers)
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

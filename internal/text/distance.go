package text

import "strings"

// Distance returns how many characters must be changed, inserted or deleted, or swapped with a
// neighbor, to turn a into b.
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	before, last, row := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range last {
		last[j] = j
	}
	for i := range from {
		row[0] = i + 1
		for j := range to {
			cost := 1
			if from[i] == to[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && from[i] == to[j-1] && from[i-1] == to[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(to)]
}

// maxNear is how many words Near returns at most.
const maxNear = 4

// Near returns the words that somebody may have meant who wrote something else: those that begin with
// what they wrote, or else those with the most similar spelling. A spelling is similar if at most
// every third character must change. Case does not matter.
func Near(wrote string, words []string) []string {
	wrote = strings.ToLower(wrote)
	var begin, near []string
	least := (len([]rune(wrote)) + 2) / 3
	for _, word := range words {
		d := Distance(wrote, strings.ToLower(word))
		if wrote != "" && strings.HasPrefix(strings.ToLower(word), wrote) {
			begin = append(begin, word)
		}
		if d > least || d >= len([]rune(wrote)) {
			continue
		}
		if d < least {
			near, least = nil, d
		}
		near = append(near, word)
	}
	if len(begin) > 0 {
		near = begin
	}
	return near[:min(len(near), maxNear)]
}

// DidYouMean returns the end of an error about an unknown word: it proposes those that are near, as
// in "; did you mean close or clone?". It is empty if there are none.
func DidYouMean(wrote string, words []string) string { return Meant(Near(wrote, words)) }

// Meant is DidYouMean for words that are known to be near.
func Meant(near []string) string {
	if len(near) == 0 {
		return ""
	}
	last := len(near) - 1
	if last == 0 {
		return "; did you mean " + near[0] + "?"
	}
	return "; did you mean " + strings.Join(near[:last], ", ") + " or " + near[last] + "?"
}

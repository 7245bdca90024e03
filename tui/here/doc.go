// Package here is the question whether to work in the project in which the person has started the
// program. It is asked before the first tab is opened, so no agent is shown that could imitate it. One
// key answers it, but not a key that was pressed before the person could read the question.
package here

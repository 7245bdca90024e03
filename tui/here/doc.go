// Package here is the question whether to work in the project in which the person has started
// the program. It is asked before the first tab is opened, so no agent runs that could draw
// something like it, and it takes one key. A key that the person pressed before they could have
// read the question does not answer it.
package here

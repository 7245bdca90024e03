// Package start is the command start: tasks for an agent without a terminal of its own, one or
// several in a conversation.
//
// A conversation reads tasks, gives each to the session, prints what the agent answers and which
// of its calls were refused, and asks the person at the terminal about calls that wait. What a
// person types there is read by the line editor of promptLine, which remembers which words were
// typed and which were pasted.
package start

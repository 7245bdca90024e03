// Package codemode carries out programs that an agent's model has written.
//
// A program is the body of an async TypeScript function that can do nothing but call tools. It
// saves what many single calls cost: a request to the model for each, and every result in the
// model's context. Each program runs in a process of its own (package isolate), which the host
// starts, watches and kills. The process has given up everything except three pipes: on one it
// sends frames to the host, on another it gets the answers.
//
// The host trusts nothing that the process sends. It reads the processor clock of the process
// itself, counts time and calls itself, and kills a process that sends anything unexpected. A
// program is no way around a decision: this package judges nothing, it hands each call to its
// caller (Program.Do), who treats it like a call that the agent makes by itself.
//
// While a program waits for a person, its clocks stand still. When it ends, however it ends, its
// calls end too, and the agent is told which of them took effect. While it waits, its Journal is on
// the disk, with which another process can run it again if this one is killed.
package codemode

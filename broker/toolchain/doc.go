// Package toolchain finds out which toolchains the projects in a workspace need, and keeps
// what the person said about them.
//
// An agent can only build a project whose toolchain is in the agent's image. Therefore Look reads
// the names of a workspace's files, and the image and the features in its devcontainer.json. It runs
// nothing and follows no link out of the workspace. The result is only a proposal: the broker shows
// it to the person, and Answers keeps the person's answer for the workspace, so that nobody is asked
// twice.
//
// Project reports whether a directory belongs to a project. When the program is started in one, it
// asks whether to work there, and Answers keeps that answer, too.
package toolchain

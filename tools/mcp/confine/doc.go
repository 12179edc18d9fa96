// Package confine runs a command so that it reads and changes only the files that it may, reaches no network and no object of another
// program: with what the kernel gives to a program without privileges. What is missing is said, never hidden.
//
// It imports nothing of ours. A Plan is what a command may use; the host starts itself with Main, which applies the plan to its own process
// (Landlock, seccomp, namespaces) and becomes the command. Ability is what the kernel gives, tried and not guessed.
//
// It owns nothing and takes no lock. The plan is applied to the one thread that becomes the command. Arguments that are not understood and
// parts that cannot be applied are errors, and the command is not run.
package confine

// Package convert makes a configuration of parley out of an effective configuration of OpenClaw: today's layout, files included, variables in the
// places of secrets.
//
// It stands right of config, which checks the result, and left of openclaw, which reads the folder. It reads no file, and asks only whether the
// folder of a workspace exists.
//
// Configuration runs the converters in order. Each owns one part of the configuration, reads what it needs of the old one, and writes to the same
// output: the new configuration and the report. Keys that mean the same in both programs are a table (rules.go). Values whose parts restrict each
// other are converted as a whole:
//
//   - agentConverter: agents, their workspaces, models and sandbox; modelConverter: providers and the names of models;
//   - toolConverter: which tools are permitted, for all and in the sandbox, by the lists that package toolrights combines;
//   - channelConverter: accounts and their secrets; accessConverter: people, groups and servers of an account, and their tools;
//   - bindingConverter: which agent answers where; it closes the accounts whose binding cannot be carried over;
//   - sessionConverter and sendPolicyConverter: session keys, resets, and what may leave;
//   - finisher: runs over the finished configuration, and closes what parley would refuse;
//   - ownerConverter: owners and paired people, by whom the finished accounts admit.
//
// It fails closed. A permission that cannot be carried over exactly is left out, and the report says how to get it back. It admits nobody whom
// OpenClaw did not admit: TestAdmitsNobodyNew compares the two.
package convert

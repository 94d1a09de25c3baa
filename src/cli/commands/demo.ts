import { Command } from 'commander'
import { sandboxOption, type SandboxOption } from './options.js'

/** `ptc demo`: the team-expense example. Hidden: the npm package does not contain the example. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('ask the team-expense question: server, worker, model-written code, answer')
    .addOption(sandboxOption())
    .action(async ({ sandbox }: SandboxOption) => {
      const { runDemo } = await import('../demo/run-demo.js')
      process.exitCode = await runDemo(sandbox)
    })
}

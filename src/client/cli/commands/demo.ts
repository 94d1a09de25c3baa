import { Command } from 'commander'
import { sandboxOption, type SandboxOption } from '../options.js'

/** `ptc demo`: the whole thing with the team-expense example; hidden, because only a checkout has the example. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('ask the team-expense question: server, worker, model-written code, answer')
    .addOption(sandboxOption())
    .action(async ({ sandbox }: SandboxOption) => {
      const { showDemo } = await import('../show-demo.js')
      await showDemo(sandbox)
    })
}

import { PtcError } from '../../common/errors.js'
import { hostedBackend } from '../../common/agent/hosted-code.js'
import type { ModelConfig } from '../../common/run/run-config.js'
import type { RecordedMode } from '../../common/agent/task-modes.js'
import { languageOf } from '../../languages/index.js'
import { isRecursive } from '../../models/prompt/hosted-prompt.js'
import type { ToolRegistry } from '../../tools/registry.js'

interface HostedRun {
  readonly model: ModelConfig
  readonly tools: ToolRegistry
  /** True when the run has data for its code. */
  readonly hasInput: boolean
  /** True when the client of the run answers calls, perhaps after days. */
  readonly hasClientTools: boolean
  readonly mode: RecordedMode | undefined
}

/**
 * Checks the requirements of a run with code that Anthropic executes.
 *
 * @param hostingProviders names of the providers that execute code at their API
 * @throws PtcError RUN_INPUT_INVALID
 */
export function checkHostedCode(
  { model, tools, hasInput, hasClientTools, mode }: HostedRun,
  hostingProviders: readonly string[],
): void {
  const other = [model, ...(model.fallbacks ?? [])].find(({ provider }) => !hostingProviders.includes(provider))
  if (other) {
    throw new PtcError(
      'RUN_INPUT_INVALID',
      `${other.provider}/${other.name} executes no code, and is a model of the run`,
      {
        hint: `The sandbox ${hostedBackend} needs models of a provider of kind \`anthropic\`.`,
      },
    )
  }
  if (!languageOf(tools.language).hosted) {
    throw new PtcError('RUN_INPUT_INVALID', `the sandbox ${hostedBackend} does not execute ${tools.language}`, {
      hint: 'Choose another sandbox.',
    })
  }
  if (hasInput) {
    throw new PtcError('RUN_INPUT_INVALID', `the sandbox ${hostedBackend} has no \`input_data\``, {
      hint: 'Choose another sandbox, or give the data through a tool.',
    })
  }
  if (hasClientTools) {
    throw new PtcError('RUN_INPUT_INVALID', `the sandbox ${hostedBackend} does not wait for the results of clients`, {
      hint: 'Choose another sandbox.',
    })
  }
  if (mode === 'single-turn' || mode === 'plan') {
    throw new PtcError('RUN_INPUT_INVALID', `the sandbox ${hostedBackend} can't be used in mode ${mode}`, {
      hint: 'Its code takes several turns, with all earlier messages. Choose another sandbox, or another mode.',
    })
  }
  const recursive = tools
    .documentation()
    .find(({ inputSchema, allowedCallers }) => !allowedCallers.includes('direct') && isRecursive(inputSchema))
  if (recursive) {
    throw new PtcError('RUN_INPUT_INVALID', `code in the sandbox ${hostedBackend} can't call ${recursive.name}`, {
      hint: 'Its input schema is recursive. Let the model call the tool directly, too, or choose another sandbox.',
    })
  }
}

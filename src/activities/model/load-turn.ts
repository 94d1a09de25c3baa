import { subagentOf } from '../../agents/subagents.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import type { Message, StoredMessage } from '../../common/agent/messages.js'
import type { SkillsOfTurn } from '../../common/agent/skills.js'
import type { SandboxContents } from '../../common/run/sandbox-image.js'
import type { ModelTurnInput } from '../../common/agent/model-turn.js'
import { languageOf } from '../../languages/index.js'
import { hostedPrompt } from '../../models/prompt/hosted-prompt.js'
import type { FurtherSession } from '../../models/prompt/further-sessions.js'
import type { SkillsInPrompt } from '../../models/prompt/skill-tools.js'
import { buildPrompt, type SandboxDescription } from '../../models/prompt/prompt.js'
import type { ModelRequest } from '../../models/provider.js'
import type { ToolDocumentation } from '../../tools/documentation/document-tools.js'
import type { ToolRegistry } from '../../tools/registry.js'
import { loadMedia } from '../../values/media.js'
import type { Values } from '../../values/values.js'
import { loadDocumentation } from '../../tools/sources/tool-set.js'
import type { ActivityParts } from '../run-activity.js'
import { loadMessages, loadPending, toSent } from './conversation.js'
import { endLostCode } from './lost-code.js'

/** The parts of a worker that are needed for requests to models. */
export interface TurnSources extends ActivityParts {
  readonly options: SandboxDescription
}

interface LoadedTurn {
  readonly request: ModelRequest
  /** The messages of the turn after the stored ones, without its reply. */
  readonly now: readonly StoredMessage[]
  /** The messages of the request, without the data of images and documents. */
  readonly withoutMedia: readonly Message[]
  readonly outputSchema: JsonObject | undefined
}

/** Loads the request of a turn. */
export async function loadTurn(input: ModelTurnInput, sources: TurnSources, signal: AbortSignal): Promise<LoadedTurn> {
  const requestAfter = await prepareTurn(input, sources, signal)
  return requestAfter(await loadMessages(sources.values, input.history, signal))
}

/**
 * Loads all parts of the request of a turn except the messages of earlier turns.
 *
 * @returns a function that makes the request with the given messages of earlier turns
 */
export async function prepareTurn(
  input: ModelTurnInput,
  { registry, values, options }: TurnSources,
  signal: AbortSignal,
): Promise<(stored: readonly StoredMessage[]) => Promise<LoadedTurn>> {
  const { model, limits, pending, mode, hosted, inputDescription, networkDescription, isCompacted } = input
  const language = languageOf(input.language)
  const { sharedSession, hasFiles, toolSearch, providerSearch, providerClearsAt, isPlain, environment } = input
  const readMore = !hosted && !isPlain && mode !== 'single-turn'
  const documentation = await loadDocumentation(input.tools, registry, values, signal)
  const tools = sharedSession?.type === 'named' ? withoutSubagentsInCode(documentation, registry) : documentation
  const { instructions, outputSchema } = await loadAgent(input, values, signal)
  const skills = input.skills && (await loadSkills(input.skills, values, signal))
  const described = {
    skills,
    language,
    tools,
    limits,
    instructions,
    outputSchema,
    mode,
    inputDescription,
    contents: await loadContents(input, values, signal),
    sessions: await loadSessions(input, values, signal),
    networkDescription,
    sharedSession,
    hasFiles,
    ...options,
  }
  const prompt = hosted
    ? hostedPrompt(described)
    : buildPrompt({ ...described, isCompacted, toolSearch, providerSearch, readMore, isPlain, environment })
  const loaded = await loadPending(values, pending, readMore, signal)
  const { name, provider, contextWindow, fallbacks: _, serverTools, ...settings } = model
  return async (stored) => {
    const now = hosted?.lost ? endLostCode(stored, loaded, hosted.lost) : loaded
    const withoutMedia = [...stored, ...now].map((each) => toSent(each, model, hosted !== undefined))
    const request: ModelRequest = {
      model: name,
      ...settings,
      messages: await loadMedia(values, withoutMedia, signal),
      ...prompt,
      serverTools: serverTools?.[provider],
      ...(hosted && { hostedCode: { container: hosted.container } }),
      ...(providerClearsAt !== undefined && {
        contextManagement: { triggerTokens: contextWindow && Math.floor(contextWindow * providerClearsAt) },
      }),
    }
    return { request, now, withoutMedia, outputSchema }
  }
}

/** Loads the parts of the run's agent, as the run recorded them at its start. */
async function loadAgent(
  { instructions, outputSchema }: ModelTurnInput,
  values: Values,
  signal: AbortSignal,
): Promise<{ readonly instructions?: string; readonly outputSchema?: JsonObject }> {
  const load = (value: JsonValue) => values.load(value, 'the agent of the run', signal)
  return {
    ...(instructions !== undefined && { instructions: (await load(instructions)) as string }),
    ...(outputSchema !== undefined && { outputSchema: (await load(outputSchema)) as JsonObject }),
  }
}

/** Loads what the run recorded of its sandbox. */
async function loadContents(
  { contents }: Pick<ModelTurnInput, 'contents'>,
  values: Values,
  signal: AbortSignal,
): Promise<SandboxContents | undefined> {
  if (contents === undefined) return undefined
  return (await values.load(contents, 'the description of the sandbox', signal)) as unknown as SandboxContents
}

async function loadSessions(
  { heldSessions }: ModelTurnInput,
  values: Values,
  signal: AbortSignal,
): Promise<readonly FurtherSession[] | undefined> {
  if (heldSessions === undefined) return undefined
  return Promise.all(
    heldSessions.map(async (session) => ({
      ...session,
      language: languageOf(session.language),
      contents: await loadContents(session, values, signal),
    })),
  )
}

/** Loads the list of skills and the instructions of active ones, as the run recorded them at its start. */
async function loadSkills(
  { list, instructions = [] }: SkillsOfTurn,
  values: Values,
  signal: AbortSignal,
): Promise<SkillsInPrompt> {
  const load = async (value: JsonValue): Promise<string> =>
    (await values.load(value, 'a skill of the run', signal)) as string
  return {
    list: list === undefined ? undefined : await load(list),
    instructions: await Promise.all(instructions.map(load)),
  }
}

/**
 * Removes sub-agents from the documentation for code in a named session: the session has the tools of the configuration
 * without sub-agents.
 */
function withoutSubagentsInCode(
  documentation: readonly ToolDocumentation[],
  registry: ToolRegistry,
): readonly ToolDocumentation[] {
  return documentation.map((each) => {
    const tool = registry.get(each.name)
    return tool && subagentOf(tool) ? { ...each, offeredTo: ['direct'] } : each
  })
}

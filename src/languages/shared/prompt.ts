import type { SharedSessionOwner } from '../../common/agent/model-turn.js'
import type { PackageKind, SandboxContents } from '../../common/run/sandbox-image.js'
import type { Environment } from '../language.js'

/** Of numbers, which JSON has only up to 2**53 exactly. */
export const passNumbers = ' Pass integers beyond 2**53 as strings.'

/** The errors of a failed call, where a call may have had an effect that must not happen twice. */
export const outcomeUnknown =
  'ToolDenied, ToolTimedOut or ToolOutcomeUnknown (it may have happened: find out before you repeat it)'

/** The rules about data and others in an environment, each on a line of its own. Empty: there are none. */
export function describeGiven({ contents, inputDescription, networkDescription, sharedSession }: Environment): string {
  const installed = contents ? describeContents(contents) : ''
  const inputRule =
    inputDescription === undefined
      ? ''
      : `\n- Variable \`input_data\` has the data that came with the question: ${inputDescription}.`
  const networkRule =
    networkDescription === undefined
      ? ''
      : `\n- Code reaches these hosts by HTTP and HTTPS, through the proxy in its environment: ${networkDescription}.`
  return `${installed}${inputRule}${networkRule}${sharedSession ? `\n- ${describeShared(sharedSession)}` : ''}`
}

const titles = { pip: 'Packages of Python', npm: 'Packages of Node.js' } as const

/** What is installed in the sandbox, each kind on a line of its own. Empty: unknown. */
function describeContents({ programs, packages }: SandboxContents): string {
  const { apt, ...libraries } = packages
  const listed = [
    ['Installed', { names: [...programs, ...apt.names], more: apt.more }] as const,
    ...(['pip', 'npm'] as const).map((kind) => [titles[kind], libraries[kind]] as const),
  ]
  return listed
    .filter(([, { names }]) => names.length > 0)
    .map(([title, { names, more }]) => `\n- ${title}: ${names.join(', ')}${more > 0 ? `, and ${more} more` : ''}.`)
    .join('')
}

/** Whether programs of the language can import packages besides what the language brings. */
export function mayImportPackages({ contents, hasPackages = false }: Environment, kind: PackageKind): boolean {
  return contents ? contents.packages[kind].names.length > 0 : hasPackages
}

/** What the environment says about the network, in a list of what is missing. */
export function missingNetwork({ networkDescription }: Environment): string {
  return networkDescription === undefined ? 'no network' : 'no network but the hosts below'
}

/** Tells the model of the others that use the sandbox of its code. */
function describeShared(session: SharedSessionOwner): string {
  const others =
    session.type === 'named'
      ? `The sandbox is session ${session.name}, which others use, too`
      : 'The sandbox is that of the agent that gave you the task'
  return `${others}: their variables are there, and may change between your calls.`
}

/** 20000 becomes "20,000", in every locale. */
export function formatCount(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

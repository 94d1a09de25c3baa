import type { SharedSessionOwner } from '../../common/agent/model-turn.js'
import type { Environment } from '../language.js'

/** The rules about data and others in an environment, each on a line of its own. Empty: there are none. */
export function describeGiven({ inputDescription, networkDescription, sharedSession }: Environment): string {
  const inputRule =
    inputDescription === undefined
      ? ''
      : `\n- Variable \`input_data\` has the data that came with the question: ${inputDescription}.`
  const networkRule =
    networkDescription === undefined
      ? ''
      : `\n- Code reaches these hosts by HTTP and HTTPS, through the proxy in its environment: ${networkDescription}.`
  return `${inputRule}${networkRule}${sharedSession ? `\n- ${describeShared(sharedSession)}` : ''}`
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

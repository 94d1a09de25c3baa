import type { SharedSessionOwner } from '../../common/agent/model-turn.js'

/** Tells the model of the others that use the sandbox of its code. */
export function describeShared(session: SharedSessionOwner): string {
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

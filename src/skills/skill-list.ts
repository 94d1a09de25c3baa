import { truncateEnd } from '../common/text/text.js'
import { skillLimits } from './limits.js'
import type { SkillHeader } from './skill.js'

/** The list of skills in the prompt. */
export interface SkillList {
  readonly text: string
  /** How many descriptions are shorter than in their skills, and how many names are left out. */
  readonly cut: number
  readonly leftOut: number
}

/**
 * Lists skills for the prompt, in the order of their names: equal skills make equal bytes, on which the prompt cache
 * depends. Over the limit, long descriptions are cut first, and names are left out last.
 *
 * @param skills in the order of their names
 */
export function listSkills(
  skills: readonly Pick<SkillHeader, 'name' | 'description'>[],
  limit: number = skillLimits.listCharacters,
): SkillList {
  const described = skills.map(({ name, description }) => ({ name, description: escapeText(description) }))
  const render = (longest: number): string[] =>
    described.map(({ name, description }) =>
      longest === 0 ? `- ${name}` : `- ${name}: ${truncateEnd(description, longest)}`,
    )
  const sizeOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length + 1, 0)
  // The largest length of descriptions that fits. Shorter ones stay whole.
  let longest = 0
  for (let low = 0, high: number = maxCharacters; low <= high;) {
    const middle = Math.floor((low + high) / 2)
    if (sizeOf(render(middle)) <= limit) [longest, low] = [middle, middle + 1]
    else high = middle - 1
  }
  const lines = render(longest)
  const kept = lines.filter((_, index) => sizeOf(lines.slice(0, index + 1)) <= limit)
  return {
    text: kept.join('\n'),
    cut: described.filter(({ description }) => description.length > longest).length,
    leftOut: lines.length - kept.length,
  }
}

/** An escaped description may be longer than the description. */
const maxCharacters = 4 * skillLimits.descriptionCharacters

/** The list ends with a tag, which no description may contain. */
function escapeText(description: string): string {
  return description.replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

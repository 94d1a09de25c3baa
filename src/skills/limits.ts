/** Limits of the folders of skills. docs/reference/limits.md lists them. */
export const skillLimits = {
  /** Skills of a configuration. */
  skills: 200,
  /** Bytes of a `SKILL.md`. */
  instructionBytes: 131_072,
  /** Bytes of its frontmatter. */
  frontmatterBytes: 16_384,
  nameCharacters: 64,
  descriptionCharacters: 1_024,
  compatibilityCharacters: 500,
  /** Entries of `allowed-tools`. */
  allowedTools: 200,
  /** Files and folders of a skill. */
  entries: 1_000,
  /** Bytes of the path of a file within its skill. */
  pathBytes: 200,
  fileBytes: 5_000_000,
  /** Bytes of all files of a skill. */
  skillBytes: 10_000_000,
  /** Bytes of all files of a configuration: each sandbox of a run has them. */
  totalBytes: 32_000_000,
  /** Characters of the list in the prompt. */
  listCharacters: 16_000,
  /** Files that the instructions of a skill list. */
  listedFiles: 200,
} as const

/** The interpreter for which wheels are built. */
export interface WheelPlatform {
  /** Major and minor version of Python. */
  readonly python: readonly [major: number, minor: number]
  /** The binary interface of Pyodide, such as `2026_0`. */
  readonly abi: string
}

/** Name, version, perhaps a number of the build, and the tags of Python, its binary interface and the platform. */
const wheelName =
  /^(?<name>[A-Za-z0-9._]+)-[A-Za-z0-9.!+_]+(-\d\w*)?-(?<pythons>[\w.]+)-(?<abis>[\w.]+)-(?<platforms>[\w.]+)\.whl$/

/** Returns the distribution of a wheel by the name of its file, and why the interpreter can't load it, if it can't. */
export function problemOfTags(
  file: string,
  { python: [major, minor], abi }: WheelPlatform,
): { readonly distribution: string; readonly problem?: string } {
  const parts = wheelName.exec(file)?.groups
  if (!parts) return { distribution: file, problem: 'its name is not that of a wheel' }
  const { name = '', pythons = '', abis = '', platforms = '' } = parts
  const distribution = name.toLowerCase().replaceAll(/[-_.]+/g, '-')
  const own = `cp${major}${minor}`
  const ownPlatforms = [`pyemscripten_${abi}_wasm32`, `pyodide_${abi}_wasm32`]
  const isNative = platforms !== 'any'
  if (isNative && !platforms.split('.').some((platform) => ownPlatforms.includes(platform)))
    return { distribution, problem: `it is for ${platforms}, and the embedded sandbox is ${ownPlatforms[0]}` }
  const ofAbi = abis.split('.').find((each) => each === 'none' || (isNative && [own, 'abi3'].includes(each)))
  // A wheel of `abi3` runs on its own version of Python and on later ones.
  const fits = (tag: string): boolean => {
    if (tag === own || tag === `py${major}`) return true
    const [, kind, version] = new RegExp(`^(py|cp)${major}(\\d+)$`).exec(tag) ?? []
    return version !== undefined && Number(version) <= minor && (kind === 'py' || ofAbi === 'abi3')
  }
  if (ofAbi !== undefined && pythons.split('.').some(fits)) return { distribution }
  return {
    distribution,
    problem: `it is for ${pythons}-${abis}, and the embedded sandbox has Python ${major}.${minor}`,
  }
}

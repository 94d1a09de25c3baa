import robotsParser from 'robots-parser'

/** The types of the package describe another module format than it has. */
const parseRobots = robotsParser as unknown as (
  url: string,
  rules: string,
) => { isAllowed(url: string, userAgent: string): boolean | undefined }

/** Whether a robots.txt of the URL's server allows the URL. */
export function allowsUrl(rules: string, url: string, userAgent: string): boolean {
  return parseRobots(new URL('/robots.txt', url).href, rules).isAllowed(url, userAgent) !== false
}

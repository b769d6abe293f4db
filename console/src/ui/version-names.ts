/** What versions are called where one is chosen, and which one is offered first. Pure. */

interface NamedVersion {
  readonly version: number
  readonly label?: string | null
}
export const formatVersionName = ({ version, label }: NamedVersion): string =>
  label ? `Version ${version} (${label})` : `Version ${version}`

/** For a list to choose from, newest first. */
export const toVersionChoices = (versions: readonly NamedVersion[]) =>
  versions.map((one) => ({ value: String(one.version), label: formatVersionName(one) }))

interface Span {
  readonly version: number | null
  readonly from: string
}

/** Whether it governs now: it has begun, and has not ended. */
export const isInForce = ({ from, until }: { from: string; until: string | null }, now_ms: number): boolean =>
  Date.parse(from) <= now_ms && (until === null || Date.parse(until) > now_ms)

/** The version that governed last before the one in force. */
export const findPreviousVersion = (spans: readonly Span[], active: number | null, now_ms: number): number | null =>
  [...spans].reverse().find(({ version, from }) => version !== null && version !== active && Date.parse(from) <= now_ms)
    ?.version ?? null

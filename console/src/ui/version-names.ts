/** Labels of versions in selections, and the version suggested for a rollback. Pure. */

interface NamedVersion {
  readonly version: number
  readonly label?: string | null
}
export const formatVersionName = ({ version, label }: NamedVersion): string =>
  label ? `Version ${version} (${label})` : `Version ${version}`

/** Options of a selection, newest first. */
export const toVersionChoices = (versions: readonly NamedVersion[]) =>
  versions.map((one) => ({ value: String(one.version), label: formatVersionName(one) }))

interface Span {
  readonly version: number | null
  readonly from: string
}

/** Whether a period is current: it has begun and not ended. */
export const isInForce = ({ from, until }: { from: string; until: string | null }, now_ms: number): boolean =>
  Date.parse(from) <= now_ms && (until === null || Date.parse(until) > now_ms)

/** The version that was in force before the current one. */
export const findPreviousVersion = (spans: readonly Span[], active: number | null, now_ms: number): number | null =>
  [...spans].reverse().find(({ version, from }) => version !== null && version !== active && Date.parse(from) <= now_ms)
    ?.version ?? null

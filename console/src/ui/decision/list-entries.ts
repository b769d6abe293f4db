/** The entries of a short list, for choosing values and drawing bands. */
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import type { OwnedVersion } from '../origin.ts'
import type { Entry } from '../registry-queries.ts'
import type { Bands } from './definition-model.ts'

const MAX_ENTRIES = 1000

async function loadResolved(list_key: string, signal: AbortSignal): Promise<PinnedList> {
  const { version, origin, overlay } = await probity.GET('/api/reference-data/resolve/{list_key}', {
    params: { path: { list_key } },
    signal,
  })
  return { list_key, version, origin, overlay_version: overlay?.version ?? null }
}

export interface ListContent {
  readonly version: number
  /** Set if this tenant's overlay may change some of the entries. */
  readonly overlay_version: number | null
  readonly entries: readonly { readonly key: string; readonly entry: Entry }[]
  readonly isWhole: boolean
}

/** A version as recorded by a decision. */
export interface PinnedList extends OwnedVersion {
  readonly list_key: string
  readonly overlay_version: number | null
}

/** The entries of the version in force, or of the version a decision recorded. */
export const listContentQuery = (list_key: string, pinned?: PinnedList) =>
  queryOptions({
    queryKey: ['datasets', 'content', list_key, pinned?.origin, pinned?.version, pinned?.overlay_version],
    queryFn: async ({ signal }): Promise<ListContent> => {
      const { version, origin, overlay_version } = pinned ?? (await loadResolved(list_key, signal))
      const path = { list_key, version: String(version) }
      const entries: { key: string; entry: Entry }[] = []
      for (let cursor: string | null | undefined; cursor !== null && entries.length < MAX_ENTRIES; ) {
        const page = await probity.GET('/api/reference-data/datasets/{list_key}/versions/{version}/entries', {
          params: { path, query: { origin, limit: 200, ...(cursor !== undefined && { cursor }) } },
          signal,
        })
        entries.push(...page.items)
        cursor = page.next_cursor
      }
      return { version, overlay_version, entries, isWhole: entries.length < MAX_ENTRIES }
    },
    staleTime: 60_000,
    throwOnError: false,
  })

export interface Band {
  readonly band: string
  readonly from_bps: number
  readonly to_bps: number
}

/** The bands of a list, lowest first; invalid entries are skipped. */
export const parseBands = (content: ListContent, { band_field, from_field, to_field }: Bands): Band[] =>
  content.entries
    .map(({ entry }) => ({
      band: String(entry[band_field]),
      from_bps: Number(entry[from_field]),
      to_bps: Number(entry[to_field]),
    }))
    .filter(({ from_bps, to_bps }) => Number.isFinite(from_bps) && Number.isFinite(to_bps))
    .sort((a, b) => a.from_bps - b.from_bps)

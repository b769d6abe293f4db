/** Which restrictions are in force, as far as the user may know. */
import type { Schemas } from '@probity/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'

export type Restriction = Schemas['Restriction']

const PAGE_SIZE = 200
const MAX_PAGES = 5

/** All of them at once: a list may show objects of many restrictions, and reading each one would be recorded as a read of it. */
const inForceQuery = queryOptions({
  queryKey: ['restrictions', 'in-force'],
  queryFn: async ({ signal }) => {
    const found = new Map<string, Restriction>()
    let cursor: string | null = null
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = { is_in_force: true, limit: PAGE_SIZE, ...(cursor !== null && { cursor }) }
      const answer: { items: Restriction[]; next_cursor: string | null } = await probity.GET('/api/restrictions', {
        params: { query },
        signal,
      })
      for (const one of answer.items) found.set(one.restriction_id, one)
      cursor = answer.next_cursor
      if (cursor === null) break
    }
    return { found, isComplete: cursor === null }
  },
  staleTime: 30_000,
})

interface KnownRestriction {
  /** False only if it is known not to be in force: a padlock too many does no harm. */
  readonly isInForce: boolean
  readonly restriction: Restriction | undefined
}

export function useRestriction(restriction_id: string | null | undefined): KnownRestriction {
  const may = usePermission()
  const hasRestriction = restriction_id !== null && restriction_id !== undefined
  const { data } = useQuery({
    ...inForceQuery,
    enabled: hasRestriction && may('listRestrictions'),
    throwOnError: false,
  })
  const restriction = hasRestriction ? data?.found.get(restriction_id) : undefined
  return { isInForce: hasRestriction && (restriction !== undefined || data?.isComplete !== true), restriction }
}

export const restrictionQuery = (restriction_id: string) =>
  queryOptions({
    queryKey: ['restrictions', 'one', restriction_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/restrictions/{restriction_id}', { params: { path: { restriction_id } }, signal }),
  })

/** Those in force, to choose from. */
export function useRestrictionsInForce(): readonly Restriction[] {
  const may = usePermission()
  const { data } = useQuery({ ...inForceQuery, enabled: may('listRestrictions'), throwOnError: false })
  return data ? [...data.found.values()] : []
}

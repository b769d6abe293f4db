/** Investigations as their pages read them. */
import type { Schemas } from '@probity/client'
import { type QueryKey, queryOptions, type UseQueryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { REFETCH_MS } from '#console/ui/work/work-queries.ts'

export type InvestigationSummary = Schemas['InvestigationSummary']
export type Investigation = Schemas['Investigation']
export type Step = Schemas['InvestigationStep']
export type MissingGuard = Schemas['MissingGuard']
export type Evidence = Schemas['Evidence']
export type Narrative = Schemas['Narrative']
export type Paragraph = Schemas['NarrativeParagraph']

/** What an evidence item is, as people call it. */
export const evidenceKinds: Readonly<Record<Evidence['kind'], string>> = {
  document: 'Document',
  provider_call: 'Answer of a provider',
  match: 'Match',
  evaluation: 'Decision',
  subject_version: 'Record of the subject',
  transaction: 'Transaction',
  ownership_graph: 'Ownership',
  external_reference: 'Reference',
}

/** The provider answered that it has nothing. */
export const isNotFound = ({ state, contract_result }: Pick<Step, 'state' | 'contract_result'>): boolean =>
  state === 'succeeded' && contract_result?.['answer'] === 'not_found'

/** Whether steps that need it can begin. */
export const isSettled = (steps: readonly Step[], key: string): boolean =>
  ['succeeded', 'skipped', 'waived'].includes(steps.find(({ step_key }) => step_key === key)?.state ?? '')

/** First parts of the keys of everything that an act on a case may change. */
export const touched = ['investigations', 'work', 'overview', 'alerts']
/** The same after a change of its evidence. */
export const touchedByEvidence = [...touched, 'evidence', 'documents']

const GATHERING_MS = 2000

/** Reads of a restricted case are recorded, so it is read again only while its steps run. */
const getInterval = (shown: Investigation | undefined): number | false => {
  if (shown === undefined || hasEnded(shown)) return false
  if (shown.gathering === 'running') return GATHERING_MS
  return shown.is_restricted ? false : REFETCH_MS
}

export const investigationQuery = (investigation_id: string) =>
  queryOptions({
    queryKey: ['investigations', 'one', investigation_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/investigations/{investigation_id}', { params: { path: { investigation_id } }, signal }),
    refetchInterval: ({ state }) => getInterval(state.data),
  })

const MAX_EVIDENCE = 200

/** Oldest first, so that the number of an item never changes: the first is E1. */
export const evidenceQuery = (investigation_id: string) =>
  queryOptions({
    queryKey: ['evidence', 'investigation', investigation_id],
    queryFn: async ({ signal }) => {
      const { items, next_cursor } = await probity.GET('/api/evidence', {
        params: { query: { owner_kind: 'investigation', owner_id: investigation_id, limit: MAX_EVIDENCE } },
        signal,
      })
      return { items: items.toReversed(), isWhole: next_cursor === null }
    },
  })

export interface NumberedEvidence {
  readonly items: readonly Evidence[]
  readonly isWhole: boolean
  /** "E3", or the end of the id of an item that is not listed. */
  readonly getEvidenceName: (evidence_id: string) => string
  readonly find: (evidence_id: string) => Evidence | undefined
}

export function useEvidence(investigation_id: string): NumberedEvidence | undefined {
  const { data } = useQuery(evidenceQuery(investigation_id))
  if (data === undefined) return undefined
  const places = new Map(data.items.map(({ evidence_id }, place) => [evidence_id, place]))
  return {
    ...data,
    getEvidenceName: (id) => (places.has(id) ? `E${(places.get(id) as number) + 1}` : id.slice(-8)),
    find: (id) => data.items[places.get(id) ?? -1],
  }
}

const MAX_HOLDS = 200

/** The hold in force on an object, as far as the user may know. */
export function useHolds(): (object_id: string | null) => Schemas['Hold'] | undefined {
  const may = usePermission()
  const { data } = useQuery({
    queryKey: ['holds', 'in-force'],
    queryFn: ({ signal }) =>
      probity.GET('/api/holds', { params: { query: { state: 'active', limit: MAX_HOLDS } }, signal }),
    enabled: may('listHolds'),
    staleTime: 30_000,
    throwOnError: false,
  })
  return (object_id) => data?.items.find((hold) => hold.object_id === object_id)
}

/** The newest version, or the one that is named. */
export const narrativeQuery = (investigation_id: string, version?: number) =>
  queryOptions({
    queryKey: ['investigations', 'narrative', investigation_id, ...(version === undefined ? [] : [version])],
    queryFn: ({ signal }) =>
      probity.GET('/api/investigations/{investigation_id}/narrative', {
        params: { path: { investigation_id }, query: { ...(version !== undefined && { version }) } },
        signal,
      }),
  })

/** The query of a list of a case. Its key is constant, so that a mutation which invalidates it awaits the refetch. */
const listQuery = <Data>(
  name: 'tasks' | 'requests' | 'subjects',
  investigation_id: string,
  read: (signal: AbortSignal) => Promise<Data>,
) =>
  queryOptions({
    queryKey: ['investigations', name, investigation_id],
    queryFn: ({ signal }) => read(signal),
    throwOnError: false,
  })

export const tasksQuery = (investigation_id: string) =>
  listQuery('tasks', investigation_id, (signal) =>
    probity.GET('/api/investigations/{investigation_id}/tasks', { params: { path: { investigation_id } }, signal }),
  )

export const requestsQuery = (investigation_id: string) =>
  listQuery('requests', investigation_id, (signal) =>
    probity.GET('/api/investigations/{investigation_id}/information-requests', {
      params: { path: { investigation_id } },
      signal,
    }),
  )

export const subjectsQuery = (investigation_id: string) =>
  listQuery('subjects', investigation_id, (signal) =>
    probity.GET('/api/investigations/{investigation_id}/subjects', { params: { path: { investigation_id } }, signal }),
  )

/** A list of the case on the page, refetched after every change of the case. */
export function useListOfCase<Data, Key extends QueryKey>(
  query: UseQueryOptions<Data, Error, Data, Key>,
  { revision, counts }: Investigation,
): Data | undefined {
  const queries = useQueryClient()
  const { data } = useQuery(query)
  const state = JSON.stringify([revision, counts])
  const shown = useRef(state)
  useEffect(() => {
    if (shown.current === state) return
    shown.current = state
    void queries.invalidateQueries({ queryKey: query.queryKey })
  })
  return data
}

export const sealQuery = (investigation_id: string) =>
  queryOptions({
    queryKey: ['investigations', 'seal', investigation_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/investigations/{investigation_id}/seal', { params: { path: { investigation_id } }, signal }),
    throwOnError: false,
  })

type Seal = Schemas['InvestigationSeal']

/** Newest first. */
export const listSeals = (seal: Seal): readonly Seal['earlier'][number][] => [seal, ...seal.earlier]

/** Whether the user may do this to the case now. */
export const isPermitted = (
  { next_actions }: Pick<Investigation, 'next_actions'>,
  wanted: Investigation['next_actions'][number]['action'],
): boolean => next_actions.some(({ action, is_permitted }) => action === wanted && is_permitted)

/** Its content can be changed: narrative, tasks, notes and evidence. */
export const isOpen = ({ state }: Pick<Investigation, 'state'>): boolean => state === 'open'
export const hasEnded = ({ state }: Pick<Investigation, 'state'>): boolean => state !== 'open' && state !== 'proposed'

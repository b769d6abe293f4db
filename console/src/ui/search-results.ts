/** Search over everything the user may read: the query, the page of each result, and results opened before. */
import type { Schemas } from '@probity/client'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { onUserChange } from '#console/session/session.ts'
import type { IconName } from './icons.tsx'

export type SearchItem = Schemas['SearchItem']

export const MAX_QUERY_CHARS = 200

/** No stored text holds a NUL character or half of a surrogate pair, and the server refuses to look for them. */
const UNSTORABLE = /\0|\p{Surrogate}/u
const NOTHING: Schemas['SearchResult'] = { groups: [], kinds: [], searched_names: true }

/** An earlier request is cancelled when the text changes. */
export const searchQuery = (text: string, limit: number, kinds?: string) =>
  queryOptions({
    queryKey: ['search', text, limit, kinds],
    queryFn: ({ signal }) =>
      UNSTORABLE.test(text)
        ? NOTHING
        : probity.GET('/api/search', { params: { query: { q: text, limit, ...(kinds && { kinds }) } }, signal }),
    enabled: text !== '',
    placeholderData: keepPreviousData,
    throwOnError: false,
  })

export interface SearchTarget {
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
}

interface KindPage {
  readonly icon: IconName
  readonly toTarget: (item: SearchItem) => SearchTarget
}

const pageAt =
  (path: string) =>
  ({ id }: SearchItem): SearchTarget => ({ to: `${path}/${encodeURIComponent(id)}` })

const kindPages: Readonly<Record<string, KindPage>> = {
  subject: { icon: 'person', toTarget: pageAt('/subjects') },
  entry: {
    icon: 'lists',
    toTarget: ({ id, list_key = '' }) => ({ to: `/datasets/${list_key}`, search: { tab: 'entries', key: id } }),
  },
  list: { icon: 'lists', toTarget: pageAt('/datasets') },
  type: { icon: 'shape', toTarget: pageAt('/types') },
  matrix: { icon: 'grid', toTarget: pageAt('/matrices') },
  rule: { icon: 'rule', toTarget: pageAt('/rules') },
  contract: { icon: 'contract', toTarget: pageAt('/source-contracts') },
  provider: { icon: 'provider', toTarget: pageAt('/providers') },
  plugin: { icon: 'plugin', toTarget: pageAt('/plugins') },
  playbook: { icon: 'playbook', toTarget: pageAt('/playbooks') },
  'tool-server': { icon: 'tools', toTarget: pageAt('/tools/servers') },
  alert: { icon: 'work', toTarget: pageAt('/inbox/alerts') },
  investigation: { icon: 'case', toTarget: pageAt('/investigations') },
  evaluation: { icon: 'scale', toTarget: pageAt('/evaluations') },
  batch: { icon: 'batch', toTarget: pageAt('/batches') },
  'change-request': { icon: 'approve', toTarget: pageAt('/change-requests') },
  user: { icon: 'people', toTarget: pageAt('/users') },
  document: { icon: 'record', toTarget: pageAt('/documents') },
  report: { icon: 'record', toTarget: pageAt('/reports') },
  job: { icon: 'work', toTarget: pageAt('/jobs') },
}

export interface FoundObject {
  readonly key: string
  readonly icon: IconName
  readonly title: string
  readonly about: string
  readonly restriction_id: string | null
  readonly target: SearchTarget
}

/** Undefined for a kind that has no page. */
export function toFoundObject(kind: string, item: SearchItem): FoundObject | undefined {
  const page = kindPages[kind]
  if (!page) return undefined
  const key = [kind, item.list_key ?? '', item.id].join(' ')
  const { title, subtitle: about, restriction_id } = item
  return { key, icon: page.icon, title, about, restriction_id, target: page.toTarget(item) }
}

const MAX_RECENT = 6
let recent: readonly FoundObject[] = []

// In memory only: names of customers must not stay behind on a shared machine.
onUserChange(() => {
  recent = []
})

export const listRecent = (): readonly FoundObject[] => recent

export function addRecent(opened: FoundObject): void {
  recent = [opened, ...recent.filter(({ key }) => key !== opened.key)].slice(0, MAX_RECENT)
}

/** The name of what a change request concerns, read under the roles of the viewer; the key or id where it cannot be read. */
import type { Schemas } from '@probity/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { type ChangeTarget, describeChange, getChangeTarget } from './describe-change.ts'

const readers: Readonly<Record<ChangeTarget['kind'], (key: string, signal: AbortSignal) => Promise<string>>> = {
  list: async (list_key, signal) =>
    (await probity.GET('/api/reference-data/datasets/{list_key}', { params: { path: { list_key } }, signal })).title,
  matrix: async (matrix_key, signal) =>
    (await probity.GET('/api/risk-matrices/{matrix_key}', { params: { path: { matrix_key } }, signal })).title,
  rule: async (rule_key, signal) =>
    (await probity.GET('/api/rules/{rule_key}', { params: { path: { rule_key } }, signal })).title,
  contract: async (contract_key, signal) =>
    (await probity.GET('/api/source-contracts/{contract_key}', { params: { path: { contract_key } }, signal })).title,
  provider: async (provider_key, signal) =>
    (await probity.GET('/api/providers/{provider_key}', { params: { path: { provider_key } }, signal })).title,
  plugin: async (plugin_key, signal) =>
    (await probity.GET('/api/plugins/{plugin_key}', { params: { path: { plugin_key } }, signal })).title,
  playbook: async (playbook_key, signal) =>
    (await probity.GET('/api/playbooks/{playbook_key}', { params: { path: { playbook_key } }, signal })).title,
  'tool-server': readServerTitle,
  'server-tool': (key, signal) => readServerTitle(key.split('/')[0] ?? '', signal),
  credential: async (credential_id, signal) => {
    const params = { path: { credential_id } }
    const { label, provider_key } = await probity.GET('/api/provider-credentials/{credential_id}', { params, signal })
    return `${label} of ${provider_key}`
  },
  type: async (type_key) => type_key,
  user: async (user_id, signal) =>
    (await probity.GET('/api/users/{user_id}', { params: { path: { user_id } }, signal })).name,
  subject: readSubjectName,
  evaluation: async (evaluation_id, signal) => {
    const decision = await probity.GET('/api/evaluations/{evaluation_id}', {
      params: { path: { evaluation_id } },
      signal,
    })
    return decision.subject_id === null ? 'a decision without a subject' : readSubjectName(decision.subject_id, signal)
  },
  schedule: async (schedule_id, signal) =>
    (await probity.GET('/api/batch-evaluations/schedules/{schedule_id}', { params: { path: { schedule_id } }, signal }))
      .name,
}

async function readServerTitle(server_key: string, signal: AbortSignal): Promise<string> {
  return (await probity.GET('/api/mcp/servers/{server_key}', { params: { path: { server_key } }, signal })).title
}

async function readSubjectName(subject_id: string, signal: AbortSignal): Promise<string> {
  return (await probity.GET('/api/subjects/{subject_id}', { params: { path: { subject_id } }, signal })).name
}

const words: Readonly<Record<ChangeTarget['kind'], string>> = {
  list: 'list',
  matrix: 'matrix',
  rule: 'rule',
  contract: 'source contract',
  provider: 'provider',
  plugin: 'plugin',
  playbook: 'playbook',
  'tool-server': 'tool server',
  'server-tool': 'tool',
  credential: 'credential',
  type: 'type',
  user: 'person',
  subject: 'subject',
  evaluation: 'decision',
  schedule: 'schedule',
}

/** An id says nothing, so the kind of object is shown before its last digits. */
const formatKey = ({ kind, key }: ChangeTarget): string =>
  /^[0-9a-f-]{36}$/.test(key) ? `${words[kind]} ${key.slice(-8)}` : key

const targetNameQuery = (target: ChangeTarget | null) =>
  queryOptions({
    queryKey: ['target-names', target?.kind, target?.key],
    queryFn: ({ signal }) => (target ? readers[target.kind](target.key, signal) : null),
    enabled: target !== null,
    staleTime: 300_000,
    retry: false,
    throwOnError: false,
  })

/** The sentence that names a change request everywhere: page title, queue and inbox. */
export function useChangeText(request: Schemas['ChangeRequest']): string {
  const target = getChangeTarget(request)
  const { data } = useQuery(targetNameQuery(target))
  return describeChange(request, data ?? (target && formatKey(target)))
}

/** Its name, or what is known of it while the name is not. */
export function useTargetName(target: ChangeTarget): string {
  const { data } = useQuery(targetNameQuery(target))
  return data ?? formatKey(target)
}

const pages: Partial<Record<ChangeTarget['kind'], string>> = {
  list: '/datasets',
  matrix: '/matrices',
  rule: '/rules',
  contract: '/source-contracts',
  provider: '/providers',
  plugin: '/plugins',
  playbook: '/playbooks',
  'tool-server': '/tools/servers',
  'server-tool': '/tools/servers',
  credential: '/provider-credentials',
  type: '/types',
  user: '/users',
  subject: '/subjects',
  evaluation: '/evaluations',
}

/** The page of what the request concerns, and what its link says. */
export function getTargetPage(target: ChangeTarget): { readonly to: string; readonly label: string } | null {
  const page = pages[target.kind]
  return page === undefined ? null : { to: `${page}/${target.key}`, label: `Open the ${words[target.kind]}` }
}

/** Playbooks in force that name a definition, and the gate that keeps them from losing what they name. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { PluginDependent, ProviderDependent } from '#kernel/module.ts'
import { Problem } from '#kernel/problem.ts'
import type { FinishReview } from '#kernel/request/change-reviews.ts'
import {
  type activationStore,
  datasetStore,
  documentStore,
  resolver,
  type versionStore,
} from '#modules/definitions/index.ts'
import { findReadiness, listReadiness, type ProviderReadiness } from '#modules/provider-credentials/index.ts'
import { listPluginDependents as listProvidersByPlugin } from '#modules/providers/index.ts'
import { listPluginDependents as listMatrixDependents } from '#modules/risk-matrices/index.ts'
import type { Finding } from './check-playbook.ts'
import { loadPlaybookText } from './load-playbook.ts'
import {
  type LoadedPlaybook,
  PLAYBOOK_FAMILY,
  type Playbook,
  type PlaybookStep,
  type ProviderSettings,
} from './model.ts'
import { isOffering } from './step-providers.ts'
import { listPlaybookReferences, type PlaybookCapabilities, validatePlaybook } from './validate-playbook.ts'

const MAX_PLAYBOOKS = 500

interface PlaybookInForce extends LoadedPlaybook {
  readonly title: string
  readonly text: documentStore.DefinitionText
}

/** Every playbook in force. One whose content is damaged keeps no other from being named. */
async function listPlaybooksInForce(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  isWanted: (playbook_key: string) => boolean = () => true,
): Promise<PlaybookInForce[]> {
  const filter = { family: PLAYBOOK_FAMILY, origin: null, state: null, type_key: null, key_prefix: null }
  const rows = await datasetStore.listDatasets(tx, filter, null, MAX_PLAYBOOKS)
  const titles = new Map(rows.map(({ list_key, title }) => [list_key, title] as const).filter(([key]) => isWanted(key)))
  const pointers = await resolver.findPointersInForce(tx, [...titles.keys()], {}, PLAYBOOK_FAMILY)
  const found: PlaybookInForce[] = []
  for (const [key, pointer] of pointers) {
    try {
      found.push({ ...(await loadPlaybookText(kernel, tx, pointer)), title: titles.get(key) ?? key })
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'content_corrupt')) throw error
    }
  }
  return found.toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

export interface UsedDefinition {
  readonly family: string
  readonly key: string
}

/** Playbooks in force with a step that names the definition, or, for a provider, one of its capabilities. */
export async function listDependentPlaybooks(kernel: PlaybookCapabilities, tx: Tx, { family, key }: UsedDefinition) {
  const readiness = family === 'provider' ? (await findReadiness(kernel, tx, [key])).get(key) : undefined
  const offered = new Set(Object.keys((readiness?.provider.manifest['capabilities'] ?? {}) as object))
  const playbooks = await listPlaybooksInForce(kernel, tx)
  return playbooks.flatMap((playbook) => {
    const steps = listPlaybookReferences(kernel.modules, playbook.content)
      .filter(
        (reference) =>
          (reference.family === family && reference.key === key) ||
          (reference.family === 'capability' && offered.has(reference.key)),
      )
      .map(({ step }) => step)
    const { key: playbook_key, origin, version, title } = playbook
    return steps.length === 0 ? [] : [{ playbook_key, title, origin, version, steps: [...new Set(steps)] }]
  })
}

/** Playbooks in force with a step that asks one of the providers, by its key or by a capability. */
export async function listProviderDependents(
  kernel: PlaybookCapabilities,
  tx: Tx,
  provider_keys: readonly string[],
): Promise<ProviderDependent[]> {
  const found = new Map<string, ProviderDependent>()
  const all = [...(await listReadiness(kernel, tx)).values()]
  for (const { key, version, title, content } of await listPlaybooksInForce(kernel, tx)) {
    for (const step of content.steps) {
      if (step.kind !== 'provider') continue
      const able = listAble(all, step.with)
      const ready = able.flatMap((each) => (each.ready ? [each.ready.provider_key] : []))
      for (const { provider: asked } of able) {
        const { provider_key } = asked
        if (!provider_keys.includes(provider_key)) continue
        const alternatives = ready.filter((each) => each !== provider_key)
        const dependent = { kind: 'playbook' as const, key, version, title, is_required: step.required, alternatives }
        const id = `${key} ${provider_key}`
        if (getWeight(dependent) > getWeight(found.get(id))) found.set(id, { provider_key, ...dependent })
      }
    }
  }
  return [...found.values()]
}

/** Of several steps of a playbook, the one without another way counts. */
const getWeight = (dependent: Pick<ProviderDependent, 'is_required' | 'alternatives'> | undefined): number =>
  dependent ? 1 + Number(dependent.is_required) * (dependent.alternatives.length === 0 ? 2 : 1) : 0

/** Playbooks in force of which no case is opened on request while the plugin cannot run: a required step has no other way. */
export async function listPluginDependents(
  kernel: Capabilities<'caches' | 'forced_provider_mode' | 'plugin_policy' | 'threads'>,
  tx: Tx,
  plugin_key: string,
): Promise<PluginDependent[]> {
  const named = await listMatrixDependents(kernel, tx, plugin_key)
  const matrices = new Map(named.map(({ key, reasons }) => [key, reasons]))
  const providers = (await listProvidersByPlugin(kernel, tx, plugin_key)).map(({ key }) => key)
  if (matrices.size + providers.length === 0) return []
  const all = [...(await listReadiness(kernel, tx)).values()]
  const found: PluginDependent[] = []
  for (const { key, version, title, content } of await listPlaybooksInForce(kernel, tx)) {
    const reasons = content.steps.flatMap((step) => {
      const misfits = findPluginNeed(step, { matrices, providers, all })
      return misfits ? [misfits] : []
    })
    if (reasons.length > 0) found.push({ kind: 'playbook', key, version, title, reasons: reasons.flat() })
  }
  return found
}

interface PluginUses {
  readonly matrices: ReadonlyMap<string, PluginDependent['reasons']>
  readonly providers: readonly string[]
  readonly all: readonly ProviderReadiness[]
}

/** Why the step cannot use the version of the plugin in force; null: it goes on without the plugin. */
function findPluginNeed(
  step: PlaybookStep,
  { matrices, providers, all }: PluginUses,
): PluginDependent['reasons'] | null {
  if (!step.required) return null
  if (step.kind === 'evaluation') return 'matrix' in step.with ? (matrices.get(step.with.matrix) ?? null) : null
  if (step.kind !== 'provider') return null
  const able = listAble(all, step.with)
  const isRunBy = ({ provider }: ProviderReadiness) => providers.includes(provider.provider_key)
  return able.some(isRunBy) && !able.some((each) => each.ready && !isRunBy(each)) ? [] : null
}

/** Providers that a step may ask. */
const listAble = (all: readonly ProviderReadiness[], { provider, capability }: ProviderSettings): ProviderReadiness[] =>
  all.filter(
    (each) => (provider ?? each.provider.provider_key) === each.provider.provider_key && isOffering(each, capability),
  )

const reviewedFamilies: readonly string[] = ['list', 'matrix', 'rule', 'provider', PLAYBOOK_FAMILY]

const toFaultId = ({ code, pointer }: Finding): string => `${code} ${pointer}`

/**
 * Called before a change of what is in force; the returned function runs after it in the same transaction. Only faults that the
 * change introduces are reported: a playbook with faults must not block corrections.
 */
export async function reviewInForce(kernel: PlaybookCapabilities, tx: Tx, change: unknown): Promise<FinishReview> {
  const { family, list_key, effective_from } = change as activationStore.InForceChange
  // What comes into force later is checked by the view of each playbook once it does.
  const isLater = effective_from !== null && Date.parse(effective_from) > Date.now()
  if (isLater || !reviewedFamilies.includes(family)) return async () => []
  const isConcerned = await selectConcerned(kernel, tx, { family, key: list_key })
  const before = await findFaults(kernel, tx, isConcerned)
  return async () => {
    const broken = [...(await findFaults(kernel, tx, isConcerned))].flatMap(([playbook_key, { version, faults }]) => {
      // The version that comes into force itself must hold.
      const isChanged = family === PLAYBOOK_FAMILY && playbook_key === list_key
      const known = new Set(isChanged ? [] : before.get(playbook_key)?.faults.map(toFaultId))
      const introduced = faults.filter((fault) => !known.has(toFaultId(fault)))
      return introduced.length === 0 ? [] : [{ playbook_key, version, findings: introduced.slice(0, 20) }]
    })
    return toGates(family, list_key, broken)
  }
}

/** Which playbooks a change may concern: readers of the list, the playbook itself, or those with a step that names what changes. */
interface Concerned {
  readonly isKey: (playbook_key: string) => boolean
  readonly isContent: (content: Playbook) => boolean
}

async function selectConcerned(
  { modules }: PlaybookCapabilities,
  tx: Tx,
  { family, key }: UsedDefinition,
): Promise<Concerned> {
  if (family === PLAYBOOK_FAMILY) return { isKey: (playbook_key) => playbook_key === key, isContent: () => true }
  if (family === 'list') {
    const readers = await documentStore.listReferencingDefinitions(tx, key)
    const keys = new Set(readers.filter((reader) => reader.family === PLAYBOOK_FAMILY).map((reader) => reader.key))
    return { isKey: (playbook_key) => keys.has(playbook_key), isContent: () => true }
  }
  // Which capabilities a provider offers may be what changes.
  const isNamed = (reference: UsedDefinition) =>
    (reference.family === family && reference.key === key) ||
    (reference.family === 'capability' && family === 'provider')
  return { isKey: () => true, isContent: (content) => listPlaybookReferences(modules, content).some(isNamed) }
}

async function findFaults(kernel: PlaybookCapabilities, tx: Tx, { isKey, isContent }: Concerned) {
  const faults = new Map<string, { readonly version: number; readonly faults: readonly Finding[] }>()
  for (const { key, version, text, content } of await listPlaybooksInForce(kernel, tx, isKey)) {
    if (!isContent(content)) continue
    const { findings } = await validatePlaybook(kernel, tx, text)
    faults.set(key, { version, faults: findings.filter(({ severity }) => severity === 'error') })
  }
  return faults
}

interface BrokenPlaybook {
  readonly playbook_key: string
  readonly version: number
  readonly findings: readonly Finding[]
}

function toGates(family: string, list_key: string, broken: readonly BrokenPlaybook[]): versionStore.Gate[] {
  const [first] = broken
  if (!first) return []
  const isOwn = family === PLAYBOOK_FAMILY && first.playbook_key === list_key
  const names = broken.map(({ playbook_key }) => `playbook ${playbook_key}`).join(', ')
  const detail = `${isOwn ? `Version ${first.version} of ${list_key} does not hold` : `${names} would no longer hold`}: ${first.findings[0]?.message}`
  return [
    {
      gate: isOwn ? 'proof' : 'referenced-by',
      detail: detail.slice(0, 1000),
      overridable: false,
      facts: { family, key: list_key, playbooks: broken },
    },
  ]
}

/** The steps of the guided start and their state, derived from what the tenant has. Pure. */
import type { OperationId } from '@probity/client'
import { SAMPLE_LIST } from './sample-list.ts'

export const stepNames = ['import', 'activate', 'rate', 'threshold', 'replay'] as const
export type StepName = (typeof stepNames)[number]

/** `waiting`: a change request of this step is open. `blocked`: an earlier step comes first. */
export type StepState = 'done' | 'waiting' | 'ready' | 'blocked'

export interface Step {
  readonly name: StepName
  readonly title: string
  readonly about: string
  readonly state: StepState
  /** The operations it calls. */
  readonly needs: readonly OperationId[]
  /** The step that has to be done before. */
  readonly after: StepName | null
}

/** What the tenant has. Null: the user may not read it. */
export interface TenantFacts {
  readonly own_lists: readonly OwnList[]
  readonly has_decision: boolean | null
  /** Versions of the tenant's list of risk bands whose impact was measured, other than for a change request. */
  readonly measured_versions: readonly number[] | null
  /** The impact run that step 4 shows; null where there is none or the user may not read it. */
  readonly threshold_run: ThresholdRun | null
  /** Keys of lists with an open request to put a version in force. */
  readonly requested_lists: readonly string[]
  /** Whether this user has seen a replay, by this browser: a replay stores nothing on the server. */
  readonly has_replayed: boolean
}

export interface ThresholdRun {
  readonly run_id: string
  readonly isOngoing: boolean
}

export interface OwnList {
  readonly list_key: string
  readonly head_version: number
  readonly is_in_force: boolean
}

/** An impact run of the tenant's list of risk bands. */
export interface BandsRun {
  readonly run_id: string
  readonly version: number | null
  readonly state: string
  readonly origin: string
  readonly cr_id: string | null
}

const texts: Readonly<Record<StepName, Pick<Step, 'title' | 'about' | 'needs'>>> = {
  import: {
    title: 'Bring in a list',
    about:
      'Lists hold the policy that decisions use: risk bands, country ratings, sanctions. A file becomes a version of a list; nothing changes until the version is put in force.',
    needs: ['createDataset', 'startImport'],
  },
  activate: {
    title: 'Put it in force',
    about: 'Decisions use a version from the moment it is put in force. Who did it and why is recorded.',
    needs: ['activateDatasetVersion'],
  },
  rate: {
    title: 'Rate a customer',
    about:
      'A risk matrix rates a customer from the inputs and the lists in force, and stores the decision with its reasons.',
    needs: ['createSubject', 'createEvaluation'],
  },
  threshold: {
    title: 'Change a threshold and see the impact',
    about:
      'Before a change is put in force, an impact analysis repeats past decisions with it and shows which customers would be rated differently.',
    needs: ['createDatasetVersion', 'startDatasetImpact'],
  },
  replay: {
    title: 'Replay the decision',
    about:
      'A replay repeats the decision with the versions it used. The result is identical, even after the policy has changed.',
    needs: ['replayEvaluation'],
  },
}

const prerequisites: Readonly<Record<StepName, StepName | null>> = {
  import: null,
  activate: 'import',
  rate: null,
  threshold: 'rate',
  replay: 'rate',
}

const findBands = (lists: readonly OwnList[]): OwnList | undefined =>
  lists.find(({ list_key }) => list_key === SAMPLE_LIST.list_key)

/**
 * The bands brought in first change no threshold. Where another list was brought in, version 1 of the bands is the changed one.
 * Null: the tenant has no bands of its own.
 */
function findFirstChanged(lists: readonly OwnList[]): number | null {
  const bands = findBands(lists)
  if (!bands) return null
  return lists.some((list) => list !== bands && list.head_version > 0) ? 1 : 2
}

/** Roles that may not read impact runs see the version instead. */
function hasMeasuredThreshold({ own_lists, measured_versions }: TenantFacts): boolean {
  const firstChanged = findFirstChanged(own_lists)
  if (firstChanged === null) return false
  const versions = measured_versions ?? [findBands(own_lists)?.head_version ?? 0]
  return versions.some((version) => version >= firstChanged)
}

/** The impact of a request to put the imported list in force says nothing about a threshold. */
const isOfDraft = ({ origin, cr_id }: BandsRun): boolean => origin === 'own' && cr_id === null

export const listMeasuredVersions = (runs: readonly BandsRun[]): number[] =>
  runs.filter((run) => isOfDraft(run) && run.state === 'succeeded').flatMap(({ version }) => version ?? [])

/** The newest run of a changed threshold that has a result or will have one. Runs are newest first. */
export function findThresholdRun(lists: readonly OwnList[], runs: readonly BandsRun[]): ThresholdRun | null {
  const firstChanged = findFirstChanged(lists)
  const run = runs.find(
    (one) =>
      isOfDraft(one) &&
      firstChanged !== null &&
      (one.version ?? 0) >= firstChanged &&
      ['queued', 'running', 'succeeded'].includes(one.state),
  )
  return run ? { run_id: run.run_id, isOngoing: run.state !== 'succeeded' } : null
}

/** A tenant that uses the shared bands needs somebody who may make a list of its own. */
const listNeeds = (name: StepName, { own_lists }: TenantFacts): readonly OperationId[] =>
  name === 'threshold' && !findBands(own_lists) ? ['createDataset', ...texts[name].needs] : texts[name].needs

function isDone(name: StepName, facts: TenantFacts): boolean {
  const { own_lists, has_decision, has_replayed } = facts
  switch (name) {
    case 'import':
      return own_lists.some(({ head_version }) => head_version > 0)
    case 'activate':
      return own_lists.some(({ is_in_force }) => is_in_force)
    case 'rate':
      return has_decision === true
    case 'threshold':
      return hasMeasuredThreshold(facts)
    case 'replay':
      return has_replayed
  }
}

export function deriveSteps(facts: TenantFacts): readonly Step[] {
  return stepNames.map((name) => {
    const after = prerequisites[name]
    const isWaiting = name === 'activate' && facts.requested_lists.length > 0
    const isBlocked = after !== null && !isDone(after, facts)
    const state = isDone(name, facts) ? 'done' : isWaiting ? 'waiting' : isBlocked ? 'blocked' : 'ready'
    return { name, ...texts[name], needs: listNeeds(name, facts), state, after }
  })
}

export const countDone = (steps: readonly Step[]): number => steps.filter(({ state }) => state === 'done').length

/** The step to open first: one the user may do now, else the first that is not done. */
export function chooseStep(steps: readonly Step[], canDo: (step: Step) => boolean): Step | null {
  const open = steps.filter(({ state }) => state !== 'done')
  return open.find((step) => step.state === 'ready' && canDo(step)) ?? open[0] ?? null
}

/** The guide is shown until the tenant has a rated subject; a user who has started it keeps seeing it. */
export const isOffered = (facts: TenantFacts, steps: readonly Step[], hasBegun: boolean): boolean =>
  countDone(steps) < steps.length &&
  (hasBegun || (facts.has_decision === null ? facts.own_lists.length === 0 : !facts.has_decision))

/** Whoever may only request an activation does the second step too. */
export const canDoStep = ({ name, needs }: Step, may: (operation: OperationId) => boolean): boolean =>
  needs.every(may) || (name === 'activate' && may('submitDatasetVersion'))

interface DemoTenant {
  readonly tenant_id: string
  readonly people: readonly DemoActor[]
}

/** A person of a demo tenant, as whom anybody may sign in. */
export interface DemoActor {
  readonly user_id: string
  readonly name: string
  readonly roles: readonly string[]
}

/** The demo people of this tenant who have one of the roles; not the user, who would need another person. */
export const findDemoActors = (
  tenants: readonly DemoTenant[],
  { tenant_id, principal }: { readonly tenant_id: string; readonly principal: string },
  roles: readonly string[],
): readonly DemoActor[] =>
  (tenants.find((tenant) => tenant.tenant_id === tenant_id)?.people ?? []).filter(
    (person) => principal !== `user:${person.user_id}` && person.roles.some((role) => roles.includes(role)),
  )

interface RoleOperations {
  readonly role: string
  readonly operations: readonly string[]
}

/** The roles of people that may do the step alone. */
export const findStepRoles = ({ needs }: Step, roles: readonly RoleOperations[]): string[] =>
  roles
    .filter(({ role, operations }) => role !== 'service' && needs.every((need) => operations.includes(need)))
    .map(({ role }) => role)

/** Customers of the demo tenant, their ratings over a year, last night's batch, and overrides. */
import type { DemoCalendar } from './demo-calendar.ts'
import type { DemoCaller, JobView } from './demo-caller.ts'
import type { MagicFile, PolicyFile, SubjectInputs, SubjectType } from './demo-files.ts'
import { awaitAll } from './dependent-steps.ts'
import { type DemoCustomer, FIRST_PORTFOLIO_DAYS_AGO, matrixKeys, REVIEW_DAYS_AGO } from './portfolio.ts'

const BULK_FILE = 'demo-customers.ndjson'
const CONCURRENCY = 4
const OFFICE_HOURS_MINUTES = 480
const OFFICE_OPENS_MINUTES = 480

export type SubjectIds = ReadonlyMap<string, string>

/** One file, as a core banking system delivers it. A run that was interrupted left a job, which is awaited. */
export async function seedSubjects(caller: DemoCaller, customers: readonly DemoCustomer[]): Promise<SubjectIds> {
  const [earlier] = await caller.listAll<JobView>('service', '/api/jobs?kind=subject-bulk')
  const job = earlier ?? (await startBulk(caller, customers))
  await caller.waitForJob('service', job.job_id)
  const subjects = await caller.listAll<{ subject_id: string; external_id: string | null }>('analyst', '/api/subjects')
  return new Map(subjects.map(({ external_id, subject_id }) => [external_id ?? subject_id, subject_id]))
}

async function startBulk(caller: DemoCaller, customers: readonly DemoCustomer[]): Promise<JobView> {
  const lines = customers.map(({ external_id, subject_type, name, segment, attributes }) =>
    JSON.stringify({ external_id, subject_type, name, segment, attributes }),
  )
  const { upload_id } = await caller.upload<{ upload_id: string }>(
    'service',
    `/api/uploads?file_name=${BULK_FILE}`,
    `${lines.join('\n')}\n`,
  )
  return caller.post<JobView>('service', '/api/subjects/bulk', { upload_id, format: 'ndjson' })
}

interface PlannedBatch {
  readonly matrix_key: string
  readonly valid_at: string
  readonly note: string
  readonly items?: readonly { readonly external_id: string; readonly inputs?: SubjectInputs }[]
  readonly filter?: Record<string, string>
}

/** Batches are recognised by their note, so that an interrupted run repeats none. */
export async function seedBatches(caller: DemoCaller, batches: readonly PlannedBatch[]): Promise<void> {
  const existing = await caller.listAll<{ note: string | null; job_id: string }>('analyst', '/api/batch-evaluations')
  const started: string[] = []
  for (const batch of batches) {
    const found = existing.find(({ note }) => note === batch.note)
    started.push(found?.job_id ?? (await caller.post<JobView>('analyst', '/api/batch-evaluations', batch)).job_id)
  }
  for (const job_id of started) await caller.waitForJob('analyst', job_id)
}

const describeType: Readonly<Record<SubjectType, string>> = { person: 'persons', company: 'companies' }

export function planFirstPortfolio(customers: readonly DemoCustomer[], calendar: DemoCalendar): PlannedBatch[] {
  return planBatches(customers, FIRST_PORTFOLIO_DAYS_AGO, calendar, {
    title: 'First rating of the portfolio',
    isIncluded: (customer) => customer.onboarded_days_ago === FIRST_PORTFOLIO_DAYS_AGO,
  })
}

export function planReviews(customers: readonly DemoCustomer[], calendar: DemoCalendar): PlannedBatch[] {
  return REVIEW_DAYS_AGO.flatMap((days_ago, index) =>
    planBatches(customers, days_ago, calendar, {
      title: `Periodic review ${index + 1}`,
      isIncluded: (customer) => customer.reviews_days_ago.includes(days_ago),
    }),
  )
}

function planBatches(
  customers: readonly DemoCustomer[],
  days_ago: number,
  calendar: DemoCalendar,
  { title, isIncluded }: { title: string; isIncluded: (customer: DemoCustomer) => boolean },
): PlannedBatch[] {
  return (['person', 'company'] as const).map((subject_type) => ({
    matrix_key: matrixKeys[subject_type],
    valid_at: calendar.toInstant(days_ago, OFFICE_OPENS_MINUTES),
    note: `${title}: ${describeType[subject_type]}`,
    items: customers
      .filter((customer) => customer.subject_type === subject_type && isIncluded(customer))
      .map((customer) => ({ external_id: customer.external_id, inputs: getInputs(customer, days_ago) })),
  }))
}

/** The record of today from the last planned rating on, what was known earlier before it. */
function getInputs(customer: DemoCustomer, days_ago: number): SubjectInputs {
  const latest = Math.min(customer.onboarded_days_ago ?? 0, ...customer.reviews_days_ago)
  return days_ago > latest ? customer.earlier : {}
}

export const planLastNight = (calendar: DemoCalendar): PlannedBatch[] => [
  {
    matrix_key: matrixKeys.person,
    valid_at: calendar.toLastNight(),
    note: 'Nightly rating: private banking',
    filter: { subject_type: 'person', segment: 'private-banking' },
  },
  {
    matrix_key: matrixKeys.company,
    valid_at: calendar.toLastNight(),
    note: 'Nightly rating: corporate customers',
    filter: { subject_type: 'company', segment: 'corporate' },
  },
]

/** Customers who came during the year are rated one by one, by the analyst or the core banking system. */
export async function seedOnboardings(
  caller: DemoCaller,
  customers: readonly DemoCustomer[],
  { calendar, ids }: { calendar: DemoCalendar; ids: SubjectIds },
): Promise<number> {
  const made = await caller.listAll<{ subject_id: string | null }>('analyst', '/api/evaluations')
  const done = new Set(made.map(({ subject_id }) => subject_id))
  const planned = customers.flatMap((customer, index) => {
    const { onboarded_days_ago: days_ago, external_id } = customer
    const subject_id = ids.get(external_id) as string
    if (days_ago === null || days_ago === FIRST_PORTFOLIO_DAYS_AGO || done.has(subject_id)) return []
    const minutes = OFFICE_OPENS_MINUTES + ((index * 37) % OFFICE_HOURS_MINUTES)
    return [{ customer, subject_id, valid_at: calendar.toInstant(days_ago, minutes), days_ago, index }]
  })
  // Older decisions first, so that the newest decision is also the latest recorded.
  planned.sort((a, b) => b.days_ago - a.days_ago || a.index - b.index)
  await forEachConcurrently(planned, async ({ customer, subject_id, valid_at, days_ago, index }) => {
    await caller.post(index % 3 === 0 ? 'analyst' : 'service', '/api/evaluations', {
      matrix_key: matrixKeys[customer.subject_type],
      subject_id,
      inputs: getInputs(customer, days_ago),
      valid_at,
    })
  })
  return planned.length
}

export async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  let hasFailed = false
  const worker = async () => {
    for (const item of queue) {
      if (hasFailed) return
      await work(item).catch((error) => {
        hasFailed = true
        throw error
      })
    }
  }
  await awaitAll(Array.from({ length: CONCURRENCY }, worker))
}

export async function seedOverrides(
  caller: DemoCaller,
  { overrides, magic }: { overrides: PolicyFile['overrides']; magic: MagicFile },
  { customers, ids, calendar }: { customers: readonly DemoCustomer[]; ids: SubjectIds; calendar: DemoCalendar },
): Promise<void> {
  const planned = [
    ...overrides.map(({ group, nth, ...override }) => ({
      ...override,
      external_id: customers.filter((customer) => customer.group === group)[nth - 1]?.external_id as string,
    })),
    ...magic.subjects.flatMap(({ external_id, override }) =>
      override ? [{ ...override, external_id, by: 'compliance_officer' as const }] : [],
    ),
  ]
  await forEachConcurrently(planned as readonly PlannedOverride[], async (one) => {
    const { external_id, by, expires_in_days, ended, ...override } = one
    const at = `/api/subjects/${ids.get(external_id)}`
    const history = await caller.listAll<{ cause: string }>('compliance_officer', `${at}/risk-history`)
    if (!history.some(({ cause }) => cause === 'override')) {
      await caller.post(by, `${at}/risk-override`, { ...override, expires_at: calendar.toExpiry(expires_in_days) })
    }
    if (ended && !history.some(({ cause }) => cause === 'override-ended')) {
      await caller.delete('compliance_officer', `${at}/risk-override?${new URLSearchParams(ended)}`)
    }
  })
}

interface PlannedOverride {
  readonly external_id: string
  readonly by: 'analyst' | 'compliance_officer'
  readonly band: string
  readonly reason: string
  readonly reason_code: string
  readonly expires_in_days: number
  readonly ended?: { readonly reason: string; readonly reason_code: string }
}

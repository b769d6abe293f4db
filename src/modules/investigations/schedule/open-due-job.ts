/** Opens cases that are due by the list `investigation-schedules`, once a day. */
import type { Tx } from '#kernel/database/tx.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { closed } from '#kernel/schema.ts'
import { resolver } from '#modules/definitions/index.ts'
import { loadPlaybook } from '#modules/playbooks/index.ts'
import { openInvestigation } from '../opening/open-investigation.ts'
import { listDueSubjects } from './queries.ts'

const SCHEDULES = 'investigation-schedules'
const DAY_S = 86_400
/** In one transaction. */
const STEP = 20
/** On one day, of one entry: the rest is due tomorrow. */
const MAX_CASES = 500

interface InvestigationSchedule {
  readonly code: string
  readonly playbook: string
  readonly subject_type: string
  readonly segment?: string
  readonly band?: string
  readonly every_days: number
}

export const openDueJob = defineJob({
  kind: 'investigation.open-due',
  summary: 'Opens investigations that are due by the list investigation-schedules.',
  payload: closed({}),
  resumes: 'restart',
  every_s: DAY_S,
  visible_to: ['compliance_officer', 'auditor'],
  uses: ['caches', 'jobs'],
  run: async ({ read, step, kernel, signal }) => {
    const list = await read((tx) => resolver.loadPolicyList<InvestigationSchedule>(kernel, tx, SCHEDULES))
    let opened = 0
    for (const schedule of list?.entries ?? [])
      for (let made = 0; made < MAX_CASES; made += STEP) {
        signal.throwIfAborted()
        let found = 0
        await step(async (tx) => {
          found = await openDue(kernel, tx, schedule)
          return found === 0 ? {} : { audit: { schedule: schedule.code, opened: found } }
        })
        opened += found
        if (found < STEP) break
      }
    return { opened }
  },
})

async function openDue(
  kernel: Capabilities<'caches' | 'jobs'>,
  tx: Tx,
  schedule: InvestigationSchedule,
): Promise<number> {
  const { code, playbook: playbook_key, subject_type, every_days } = schedule
  const [segment, band] = [schedule.segment ?? null, schedule.band ?? null]
  const due = await listDueSubjects(tx, { playbook_key, subject_type, segment, band, every_days }, STEP)
  if (due.length === 0) return 0
  const playbook = await loadPlaybook(kernel, tx, playbook_key)
  for (const subject of due)
    await openInvestigation(kernel, tx, {
      subject,
      playbook,
      title: playbook.content.title,
      priority: 'low',
      origin: 'schedule',
      origin_reference: `schedule:${code}`,
    })
  return due.length
}

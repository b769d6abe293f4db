/** Opens cases that are due by the list `investigation-schedules`, once a day. */
import type { Tx } from '#kernel/database/tx.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { closed } from '#kernel/schema.ts'
import { resolver } from '#modules/definitions/index.ts'
import type { playbookModel } from '#modules/playbooks/index.ts'
import { openInvestigation } from '../opening/open-investigation.ts'
import { findUsablePlaybook } from '../opening/usable-playbook.ts'
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
    const failed: string[] = []
    for (const schedule of list?.entries ?? []) {
      // An entry whose playbook cannot be used must not keep the others from being opened.
      const playbook = await read((tx) => findUsablePlaybook(kernel, tx, schedule))
      if (!playbook) failed.push(schedule.code)
      for (let made = 0; playbook && made < MAX_CASES; made += STEP) {
        signal.throwIfAborted()
        let found = 0
        await step(async (tx) => {
          found = await openDue(kernel, tx, schedule, playbook)
          return found === 0 ? {} : { audit: { schedule: schedule.code, opened: found } }
        })
        opened += found
        if (found < STEP) break
      }
    }
    return { opened, failed }
  },
})

async function openDue(
  kernel: Capabilities<'caches' | 'jobs'>,
  tx: Tx,
  schedule: InvestigationSchedule,
  playbook: playbookModel.LoadedPlaybook,
): Promise<number> {
  const { code, playbook: playbook_key, subject_type, every_days } = schedule
  const [segment, band] = [schedule.segment ?? null, schedule.band ?? null]
  const due = await listDueSubjects(tx, { playbook_key, subject_type, segment, band, every_days }, STEP)
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

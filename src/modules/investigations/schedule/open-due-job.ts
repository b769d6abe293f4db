/** Opens cases that are due by the list `investigation-schedules`, once a day. */
import type { Tx } from '#kernel/database/tx.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { closed } from '#kernel/schema.ts'
import { resolver } from '#modules/definitions/index.ts'
import type { playbookModel } from '#modules/playbooks/index.ts'
import { openingsRefused } from '../gathering/metrics.ts'
import { openInvestigation } from '../opening/open-investigation.ts'
import { tryInSavepoint } from '../opening/queries.ts'
import { findUsablePlaybook } from '../opening/usable-playbook.ts'
import { listDueSubjects } from './queries.ts'

export const SCHEDULES = 'investigation-schedules'
const DAY_S = 86_400
/** In one transaction. */
const STEP = 20
/** On one day, of one entry: the rest is due tomorrow. */
const MAX_CASES = 500

export interface InvestigationSchedule {
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
  uses: ['caches', 'jobs', 'metrics'],
  run: async ({ read, step, kernel, signal }) => {
    const list = await read((tx) => resolver.loadPolicyList<InvestigationSchedule>(kernel, tx, SCHEDULES))
    let opened = 0
    const failed: string[] = []
    for (const schedule of list?.entries ?? []) {
      // An entry whose playbook cannot be used must not keep the others from being opened, and neither must a subject.
      const playbook = await read((tx) => findUsablePlaybook(kernel, tx, schedule))
      const refused: string[] = []
      for (let made = 0; playbook && made < MAX_CASES; made += STEP) {
        signal.throwIfAborted()
        let due: DueSubjects | undefined
        await step(async (tx) => {
          due = await openDue(kernel, tx, schedule, { playbook, except: refused })
          return due.opened === 0 ? {} : { audit: { schedule: schedule.code, opened: due.opened } }
        })
        opened += due?.opened ?? 0
        refused.push(...(due?.refused ?? []))
        if (!due || due.opened + due.refused.length < STEP) break
      }
      if (playbook && refused.length === 0) continue
      failed.push(schedule.code)
      kernel.metrics.increment(openingsRefused, { origin: 'schedule' }, Math.max(1, refused.length))
    }
    return { opened, failed }
  },
})

interface DueSubjects {
  readonly opened: number
  /** Subjects of which the playbook refuses a case. */
  readonly refused: readonly string[]
}

async function openDue(
  kernel: Capabilities<'caches' | 'jobs'>,
  tx: Tx,
  schedule: InvestigationSchedule,
  { playbook, except }: { readonly playbook: playbookModel.LoadedPlaybook; readonly except: readonly string[] },
): Promise<DueSubjects> {
  const { code, playbook: playbook_key, subject_type, every_days } = schedule
  const [segment, band] = [schedule.segment ?? null, schedule.band ?? null]
  const due = await listDueSubjects(tx, { playbook_key, subject_type, segment, band, every_days, except }, STEP)
  const refused: string[] = []
  for (const subject of due) {
    const isOpened = await tryInSavepoint(tx, (part) =>
      openInvestigation(kernel, part, {
        subject,
        playbook,
        title: playbook.content.title,
        priority: 'low',
        origin: 'schedule',
        origin_reference: `schedule:${code}`,
      }),
    )
    if (!isOpened) refused.push(subject.subject_id)
  }
  return { opened: due.length - refused.length, refused }
}

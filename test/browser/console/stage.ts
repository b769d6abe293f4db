/** The people of the tests of the console, work that can be held, and the sealing of the audit record. */
import type { Locator, Page } from 'playwright-core'
import { defineJob } from '../../../src/kernel/job/kind.ts'
import { closed } from '../../../src/kernel/schema.ts'
import type { World } from '../../support/world.ts'
import { openStage, type Person, person, w } from '../stage.ts'
import type { Seen } from '../visitor.ts'

export { at, base, browser, clean, heading, inBrowser, type Person, person, tenant_id, w } from '../stage.ts'

/** Work that goes on one step at a time, when a test allows it. */
let permits = 0
export const allow = (steps: number): void => {
  permits = steps
}
const slowWork = defineJob({
  kind: 'slow-work',
  summary: 'Three steps.',
  payload: closed({}),
  resumes: 'restart',
  run: async ({ step, signal }) => {
    for (let done = 0; done < 3; ) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (signal.aborted) return null
      if (permits === 0) continue
      permits--
      done++
      await step(async () => ({ progress: { done, total: 3, unit: 'parts' } }))
    }
    return { parts: 3 }
  },
})

export let tara: Person
export let till: Person
export let clara: Person
export let vera: Person
export let udo: Person
let sealer: ReturnType<World['runtime']['createSealer']> | undefined

/** Sealing the audit record, which a test may have to hold. */
export const sealing = {
  start: () => {
    sealer = w.runtime.createSealer()
    sealer.start()
  },
  stop: () => sealer?.stop(),
}

openStage({
  jobs: [slowWork],
  four_eyes: true,
  prepare: async () => {
    sealing.start()
    tara = await person('Tara Admin', ['tenant_admin'])
    // Nobody but Tara could approve them yet; once there is Till, whoever is given roles waits for approval.
    vera = await person('Vera Viewer', ['viewer'], { by: tara })
    udo = await person('Udo Auditor', ['auditor'], { by: tara })
    clara = await person('Clara Compliance', ['compliance_officer'], { by: tara })
    till = await person('Till Admin', ['tenant_admin'], { by: tara })
  },
  end: () => sealer?.stop(),
})

/** What Tara asked for, and has just been told to wait for. */
export async function approveBy(approver: Person, dialog: Locator): Promise<string> {
  const link = dialog.getByRole('link', { name: 'Open the change request' })
  const cr_id = ((await link.getAttribute('href')) ?? '').split('/').at(-1) as string
  await w.call(`POST /change-requests/${cr_id}/approve`, { token: approver.token, body: {} })
  return cr_id
}

export const areas = (page: Page) => page.getByRole('navigation', { name: 'Areas' })
/** Whoever made the first users exists in a token only: the audit record asks for their name in vain. */
export const withoutFounder = (seen: Seen): Seen => ({
  ...seen,
  failed: seen.failed.filter((answer) => !answer.startsWith('404 /api/users/')),
})
